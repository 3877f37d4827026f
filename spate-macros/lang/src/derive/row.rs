//! `#[derive(Row)]`: an encoder that writes the fields in the table's column order.
//!
//! Names, computed columns and NULL are judged here, one error per column; whether a Rust type can be stored in a
//! column type is `spate-clickhouse`'s business (`StoredAs`), reported by rustc at the field's type.

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Type;

use super::input::{Field, Input, Words, did_you_mean};
use crate::diagnostic::{Code, Diagnostic, Errors, list, suggest};
use crate::files::{self, FileError, SourceFile};
use crate::sql::{Column, ColumnType, Computed, Table, parse};

const WORDS: Words = Words {
    attribute: "row",
    derive: "Row",
    file: "table",
    part: "name",
    with: false,
    compat: Err(""),
    shape: Code::RowShape,
};

/// Expands the derive; `dir` is the directory that table paths are relative to.
pub fn expand(tokens: TokenStream, dir: &Path) -> TokenStream {
    let mut errors = Errors::new();
    let Some(input) = Input::parse(tokens, &WORDS, &mut errors) else {
        return errors.finish();
    };
    let expansion = table(&input, dir, &mut errors).and_then(|(file, table, span)| {
        let columns = match_columns(&input, &file, &table, span, &mut errors);
        (!errors.has()).then(|| emit(&input, &file, &table, &columns))
    });
    let expansion = expansion.unwrap_or_else(|| never(&input));
    let errors = errors.finish();
    quote!(#errors #expansion)
}

fn table(
    input: &Input,
    dir: &Path,
    errors: &mut Errors,
) -> Option<(std::sync::Arc<SourceFile>, Table, Span)> {
    if errors.has() || input.elided {
        return None;
    }
    let written = input.file.as_ref()?;
    let file = match files::read(dir, &written.value()) {
        Ok(file) => file,
        Err(FileError { message, help }) => {
            errors.push(Diagnostic::new(Code::TableFile, written.span(), message).help(help));
            return None;
        }
    };
    let tables = match parse(&file) {
        Ok(tables) => tables,
        Err(finding) => {
            errors.push(finding.at(&file, written.span()));
            return None;
        }
    };
    let table = pick(input, file.written(), tables, written.span(), errors)?;
    Some((file, table, written.span()))
}

fn pick(
    input: &Input,
    written: &str,
    mut tables: Vec<Table>,
    span: Span,
    errors: &mut Errors,
) -> Option<Table> {
    let full = |table: &Table| match &table.database {
        Some(database) => format!("{database}.{}", table.name),
        None => table.name.clone(),
    };
    let names: Vec<String> = tables.iter().map(full).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut unknown = |span, message, help| {
        errors.push(Diagnostic::new(Code::TableUnknown, span, message).help(help));
        None
    };
    let Some(wanted) = &input.part else {
        return match names.as_slice() {
            [] => unknown(
                span,
                format!("`{written}` creates no table"),
                "it needs a `CREATE TABLE` statement".to_owned(),
            ),
            [_] => tables.pop(),
            several => {
                let help = format!("name one with `name = \"..\"`: {}", list(several, "or"));
                unknown(span, format!("`{written}` creates several tables"), help)
            }
        };
    };
    let name = wanted.value();
    let found = tables.iter().position(|table| full(table) == name);
    match found.or_else(|| tables.iter().position(|table| table.name == name)) {
        Some(position) => Some(tables.swap_remove(position)),
        None => unknown(
            wanted.span(),
            format!("`{written}` creates no table `{name}`"),
            match suggest(&name, tables.iter().map(|table| table.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => did_you_mean(&name, &names, "it"),
            },
        ),
    }
}

/// The columns that are written, in the table's order, with the fields they come from.
fn match_columns<'a>(
    input: &'a Input,
    file: &SourceFile,
    table: &'a Table,
    span: Span,
    errors: &mut Errors,
) -> Vec<(&'a Column, &'a Field)> {
    let place = |column: &Column| format!("{}:{}", file.written(), column.place);
    // A column whose field is misspelt has one: nothing is said of it a second time.
    let mut meant: Vec<&str> = Vec::new();
    for field in &input.fields {
        if !table.columns.iter().any(|column| column.name == field.name) {
            let taken = |name: &str| input.fields.iter().any(|other| other.name == name);
            let computed = |column: &&Column| {
                matches!(column.computed, Computed::Materialized | Computed::Alias)
            };
            let free: Vec<&str> = table
                .columns
                .iter()
                .filter(|column| !computed(column))
                .map(|column| column.name.as_str())
                .filter(|name| !taken(name))
                .collect();
            let message = format!(
                "table `{}` of `{}` has no column `{}`",
                table.name,
                file.written(),
                field.name
            );
            meant.extend(suggest(&field.name, free.iter().copied()));
            let help = did_you_mean(&field.name, &free, "the table");
            errors.push(
                Diagnostic::new(Code::FieldWithoutColumn, field.name_span, message).help(help),
            );
        }
    }
    let mut matched = Vec::new();
    for column in &table.columns {
        let mut fields = input
            .fields
            .iter()
            .filter(|field| field.name == column.name);
        let Some(field) = fields.next() else {
            if column.computed == Computed::No && !meant.contains(&column.name.as_str()) {
                let (name, ty) = (&column.name, column.ty.spelling());
                let message = format!(
                    "column `{name} {ty}` ({}) has no default and `{}` no field for it",
                    place(column),
                    input.ident
                );
                let help = format!("add a field `{name}`, or give the column a DEFAULT");
                errors.push(Diagnostic::new(Code::ColumnWithoutField, span, message).help(help));
            }
            continue;
        };
        if let Some(second) = fields.next() {
            let message = format!(
                "`{}` and `{}` are written into one column `{}`",
                field.ident, second.ident, column.name
            );
            errors.push(Diagnostic::new(
                Code::ColumnTwice,
                second.name_span,
                message,
            ));
        }
        match judge(column, field) {
            Ok(()) => matched.push((column, field)),
            Err((code, message, help)) => {
                let (name, ty) = (&column.name, column.ty.spelling());
                let message = format!("column `{name} {ty}` ({}) {message}", place(column));
                let diagnostic = match code {
                    Code::ColumnComputed => Diagnostic::new(code, field.name_span, message),
                    _ => Diagnostic::spanned(code, &field.ty, message),
                };
                errors.push(if help.is_empty() {
                    diagnostic
                } else {
                    diagnostic.help(help)
                });
            }
        }
    }
    matched
}

/// Whether the field may be written into the column; if not, the code, what to say of the column, and advice.
fn judge(column: &Column, field: &Field) -> Result<(), (Code, String, String)> {
    if let computed @ (Computed::Materialized | Computed::Alias) = column.computed {
        let message = format!(
            "is {}: the server computes it, an insert may not name it",
            computed.keyword()
        );
        return Err((Code::ColumnComputed, message, String::new()));
    }
    if let Some(reason) = column.ty.later() {
        // The column has just been named with its whole type.
        let message = match reason == format!("`{}`", column.ty.spelling()) {
            true => "has a type that cannot be written yet".to_owned(),
            false => format!("cannot be written yet: {reason} is not available"),
        };
        let help = match column.computed {
            Computed::No => {
                "use another type, or give the column a DEFAULT and leave the field out"
            }
            _ => "leave the field out of the struct",
        };
        return Err((Code::ColumnLater, message, help.to_owned()));
    }
    if is_option(&field.ty) && !column.ty.is_nullable() {
        let nullable = match &column.ty {
            ColumnType::Array(_) => None,
            ColumnType::LowCardinality(inner) => {
                Some(format!("LowCardinality(Nullable({}))", inner.spelling()))
            }
            plain => Some(format!("Nullable({})", plain.spelling())),
        };
        let help = match nullable {
            Some(nullable) => {
                format!("unwrap the value before, or make the column `{nullable}`")
            }
            None => "unwrap the value before: the server has no `Nullable(Array(..))`".to_owned(),
        };
        return Err((
            Code::ColumnNotNull,
            "takes no NULL, and this field may be `None`".to_owned(),
            help,
        ));
    }
    Ok(())
}

/// Whether the tokens are an `Option<..>`; what hides behind an alias is judged by the trait.
fn is_option(ty: &Type) -> bool {
    match ty {
        Type::Paren(inner) => is_option(&inner.elem),
        Type::Group(inner) => is_option(&inner.elem),
        Type::Path(path) => {
            path.qself.is_none()
                && path
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "Option")
        }
        _ => false,
    }
}

fn emit(
    input: &Input,
    file: &SourceFile,
    table: &Table,
    columns: &[(&Column, &Field)],
) -> TokenStream {
    let row = runtime();
    let (mut infos, mut sizes, mut stores) = (Vec::new(), Vec::new(), Vec::new());
    for (column, field) in columns {
        let (name, spelling, marker) = (&column.name, column.ty.spelling(), marker(&column.ty));
        let (ident, ty) = (&field.ident, &field.ty);
        infos.push(quote!(#row::Column { name: #name, ty: #spelling }));
        let stored = quote!(<#ty as #row::StoredAs<#marker>>);
        sizes.push(quote!(#stored::size(&self.#ident)));
        stores.push(quote!(#row::column(#name, #stored::store(&self.#ident, slots))?;));
    }
    let (import, header) = (import(input), header(input));
    let track = file.track();
    let name = input.ident.to_string();
    let table_name = match &table.database {
        Some(database) => format!("{database}.{}", table.name),
        None => table.name.clone(),
    };
    quote! {
        const _: () = {
            #import
            #track
            #[automatically_derived]
            #header {
                const NAME: &'static str = #name;
                const TABLE: &'static str = #table_name;
                const COLUMNS: &'static [#row::Column] = &[#(#infos),*];
                #[inline]
                fn encode(&self, out: &mut ::std::vec::Vec<u8>) -> ::core::result::Result<(), #row::RowError> {
                    let mut row = #row::Slots::new(out, 0 #(+ #sizes)*);
                    let slots = &mut row;
                    #(#stores)*
                    row.finish();
                    ::core::result::Result::Ok(())
                }
            }
        };
    }
}

/// The implementation after a mistake: it satisfies every bound and is never run.
fn never(input: &Input) -> TokenStream {
    let row = runtime();
    let (root, header) = (&input.root, header(input));
    quote! {
        const _: () = {
            use #root::__private::clickhouse as #row;
            #[automatically_derived]
            #header {
                const NAME: &'static str = "";
                const TABLE: &'static str = "";
                const COLUMNS: &'static [#row::Column] = &[];
                fn encode(&self, _: &mut ::std::vec::Vec<u8>) -> ::core::result::Result<(), #row::RowError> {
                    ::core::unreachable!("the table of this row has a mistake")
                }
            }
        };
    }
}

/// The name of `spate-clickhouse` inside the expansion.
fn runtime() -> TokenStream {
    quote!(__spate)
}

/// Gives it that name, so that a reader of the expansion finds the columns.
fn import(input: &Input) -> TokenStream {
    let (root, row) = (&input.root, runtime());
    quote! {
        use #root::__private::clickhouse as #row;
        use #row::types as __types;
    }
}

fn header(input: &Input) -> TokenStream {
    let (row, ident) = (runtime(), &input.ident);
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote!(impl #impl_generics #row::Row for #ident #type_generics #where_clause)
}

/// The marker type of a column type.
fn marker(ty: &ColumnType) -> TokenStream {
    let types = quote!(__types);
    match ty {
        ColumnType::Plain(name) => {
            let name = proc_macro2::Ident::new(name, Span::call_site());
            quote!(#types::#name)
        }
        ColumnType::FixedString(length) => quote!(#types::FixedString<#length>),
        ColumnType::DateTime(_) => quote!(#types::DateTime),
        ColumnType::DateTime64(precision, _) => quote!(#types::DateTime64<#precision>),
        ColumnType::Decimal(precision, scale) => quote!(#types::Decimal<#precision, #scale>),
        ColumnType::Nullable(inner) => {
            let inner = marker(inner);
            quote!(#types::Nullable<#inner>)
        }
        ColumnType::LowCardinality(inner) => {
            let inner = marker(inner);
            quote!(#types::LowCardinality<#inner>)
        }
        ColumnType::Array(inner) => {
            let inner = marker(inner);
            quote!(#types::Array<#inner>)
        }
        // Such a column was refused before.
        ColumnType::Later { spelling, .. } => spelling.to_token_stream(),
    }
}
