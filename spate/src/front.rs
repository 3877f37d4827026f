//! The front of `pipeline!`: passes `$crate`, so that a renamed dependency works, and the names of the features that
//! are on, so that a stage whose feature is off is an error that names it.

/// Compiles a pipeline.
///
/// ```
/// use spate::prelude::*;
///
/// spate::pipeline! {
///     /// Lines that are no comments.
///     pub lines(mark: u8) {
///         memory
///         -> bytes
///         -> kept: filter(|line| line.first() != Some(&mark))
///         -> capture
///     }
/// }
///
/// assert_eq!(lines(b'#').graph().node(2).map(|node| node.name), Some("kept"));
/// ```
///
/// The bare body is the expression form, with the same value:
///
/// ```
/// let pipeline = spate::pipeline! { memory -> bytes -> discard };
/// assert_eq!(pipeline.graph().len(), 3);
/// ```
///
/// # Debuggers, profilers and backtraces
///
/// The code of a stage stands in the line tables at the line of its name, and a closure's at its own lines, in the file of
/// the block: a breakpoint on the line of a stage stops in it, `perf annotate` and flame graphs by line show what each
/// costs, and a backtrace out of a closure shows the stage. With debug information (`debug = "line-tables-only"` is enough,
/// in a release profile as well) it costs nothing at run time. Symbols carry the name of the pipeline's function,
/// `orders::{{closure}}`; stages have none of their own, because each is compiled into the one loop. A panic in a stage is
/// reported with the stage's name, topic, partition and offset in any build.
#[macro_export]
macro_rules! pipeline {
    ($($tokens:tt)*) => { $crate::__feature_kafka! { [$crate] [] $($tokens)* } };
}

/// Declares the types of an Avro schema file: for each record a struct, for each enum and each union of several types an enum, all
/// public, with `#[derive(AvroRecord)]`, `AvroEnum` and `AvroUnion`.
///
/// They borrow from the payload, have the schema's documentation, and are named as there, in Rust's spelling: `order_line` is `OrderLine`, the union of its
/// field `origin` is `OrderLineOrigin`. Namespaces are left out; where two types would have one name, both have theirs in front
/// (`shop.Line` is `ShopLine`). Put the call into a module of its own if other names are near.
///
/// - The path starts at the directory of the crate's `Cargo.toml`.
/// - `with = ["..", ..]`: schema files whose types that one uses, in an order in which each comes before its users. Their types are
///   not declared here but have to be in scope: call the macro for each file.
/// - `compat = ".."`, or a list: schema files of other versions, as for `AvroRecord`. The tops of the files are compared.
/// - `owned`: `String` and `Vec` in place of what borrows.
///
/// ```ignore
/// mod schema {
///     spate::avro_schema!("schemas/order.avsc");
/// }
///
/// spate::pipeline! {
///     orders { kafka -> avro::<schema::Order> -> map(to_row) -> clickhouse::<OrderRow> }
/// }
/// ```
#[macro_export]
macro_rules! avro_schema {
    ($($tokens:tt)*) => { $crate::__private::avro_schema_impl! { [$crate] $($tokens)* } };
}

/// One link of the chain that collects the features: adds its name if the feature is on, and calls the next.
macro_rules! feature {
    ($d:tt $feature:literal, $name:ident, $this:ident => $next:ident) => {
        #[cfg(feature = $feature)]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $this {
                            ($d krate:tt [$d($d on:ident)*] $d($d tokens:tt)*) => {
                                $d crate::$next! { $d krate [$d($d on)* $name] $d($d tokens)* }
                            };
                        }

        #[cfg(not(feature = $feature))]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $this {
                            ($d($d tokens:tt)*) => { $d crate::$next! { $d($d tokens)* } };
                        }
    };
}

feature!($ "kafka", kafka, __feature_kafka => __feature_avro);
feature!($ "avro", avro, __feature_avro => __feature_clickhouse);
feature!($ "clickhouse", clickhouse, __feature_clickhouse => __expand);

#[doc(hidden)]
#[macro_export]
macro_rules! __expand {
    ($($tokens:tt)*) => { $crate::__private::pipeline_impl! { $($tokens)* } };
}
