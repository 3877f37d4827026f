//! One type per column type, spelled like the server's: what `StoredAs` is implemented for.

use std::marker::PhantomData;

macro_rules! plain {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[derive(Debug)]
        pub struct $name;
    )*};
}

plain! { Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64 String Date Date32 DateTime UUID }

/// `FixedString(N)`.
#[derive(Debug)]
pub struct FixedString<const N: usize>;

/// `DateTime64(P)`.
#[derive(Debug)]
pub struct DateTime64<const P: u8>;

/// `Decimal(P, S)`.
#[derive(Debug)]
pub struct Decimal<const P: u32, const S: u32>;

/// `Nullable(T)`.
#[derive(Debug)]
pub struct Nullable<T>(PhantomData<T>);

/// `LowCardinality(T)`: in RowBinary like `T` itself.
#[derive(Debug)]
pub struct LowCardinality<T>(PhantomData<T>);

/// `Array(T)`.
#[derive(Debug)]
pub struct Array<T>(PhantomData<T>);
