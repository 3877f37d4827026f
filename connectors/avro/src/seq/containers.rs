//! Options, pairs, lists and maps as items.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use super::item::{least, of_items, pass, read, within};
use super::{Form, Item, ItemOf, Seq};
use crate::error::AvroError;
use crate::from_avro::{FromAvro, room};
use crate::unions::AvroNullableUnion;
use crate::wire::{self, Reader};

impl<'b, T: Item<'b>> Item<'b> for Option<T> {
    #[inline(always)]
    fn least(_: &Form) -> usize {
        1
    }

    #[inline(always)]
    fn read_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        let (null, inner) = match form {
            Form::NullFirst(inner) => (0, inner),
            Form::NullLast(inner) => (1, inner),
            _ => return T::item_or_null(reader),
        };
        match reader.branch(2)? == null {
            true => Ok(None),
            false => T::read_item(inner, reader).map(Some),
        }
    }

    #[inline(always)]
    fn pass_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        let (null, inner) = match form {
            Form::NullFirst(inner) => (0, inner),
            Form::NullLast(inner) => (1, inner),
            _ => return T::item_or_null(reader).map(drop),
        };
        match reader.branch(2)? == null {
            true => Ok(()),
            false => T::pass_item(inner, reader),
        }
    }
}

impl<'b, W, T: ItemOf<'b, W>> ItemOf<'b, wire::NullFirst<W>> for Option<T> {
    const FORM: &'static Form = &Form::NullFirst(T::FORM);
}

impl<'b, W, T: ItemOf<'b, W>> ItemOf<'b, wire::NullLast<W>> for Option<T> {
    const FORM: &'static Form = &Form::NullLast(T::FORM);
}

impl<'b, U: AvroNullableUnion<'b> + Item<'b>> ItemOf<'b, wire::Union> for Option<U> {}

/// An entry of a map.
impl<'b, K: FromAvro<'b, wire::Str>, V: Item<'b>> Item<'b> for (K, V) {
    #[inline(always)]
    fn least(form: &Form) -> usize {
        let form = match form {
            Form::Within(value) => value,
            form => form,
        };
        K::MIN + least::<V>(form)
    }

    #[inline(always)]
    fn read_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        Ok((K::read(reader)?, read(of_items(form), reader)?))
    }

    #[inline(always)]
    fn pass_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        K::check(reader)?;
        pass::<V>(of_items(form), reader)
    }
}

impl<'b, W, K: FromAvro<'b, wire::Str>, V: ItemOf<'b, W>> ItemOf<'b, wire::Entry<W>> for (K, V) {
    const FORM: &'static Form = within!(V::FORM);
}

/// Passes over all items of a list and returns how many there are.
#[inline]
fn pass_all<'b, T: Item<'b>>(
    form: &'static Form,
    reader: &mut Reader<'b>,
) -> Result<usize, AvroError> {
    let mut total = 0;
    loop {
        let block = reader.block(least::<T>(form))?;
        if block.count == 0 {
            return Ok(total);
        }
        total += block.count;
        if !reader.skip_block(block) {
            for _ in 0..block.count {
                pass::<T>(form, reader)?;
            }
        }
    }
}

/// Reads all items of a list; `more` makes room for so many.
#[inline(always)]
fn read_all<'b, T: Item<'b>, C>(
    form: &'static Form,
    reader: &mut Reader<'b>,
    mut items: C,
    more: impl Fn(&mut C, usize),
    add: impl Fn(&mut C, T),
) -> Result<C, AvroError> {
    loop {
        let block = reader.block(least::<T>(form))?;
        if block.count == 0 {
            return Ok(items);
        }
        more(&mut items, room::<T>(reader, block));
        for _ in 0..block.count {
            add(&mut items, read(form, reader)?);
        }
    }
}

/// A list or a map in an item has the form of its own items: what is around it is told by its Rust type.
macro_rules! lists {
    ($([$($generics:tt)*] $ty:ty, $item:ty, |$form:ident, $reader:ident| $read:expr;)*) => {$(
        impl<'b, $($generics)*> Item<'b> for $ty {
            #[inline(always)]
            fn least(_: &Form) -> usize {
                1
            }

            #[inline]
            fn read_item(form: &'static Form, $reader: &mut Reader<'b>) -> Result<Self, AvroError> {
                let $form = of_items(form);
                $read
            }

            #[inline]
            fn pass_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<(), AvroError> {
                pass_all::<$item>(of_items(form), reader).map(drop)
            }
        }
    )*};
}

lists! {
    [T: Item<'b>] Seq<'b, T>, T, |form, reader| {
        let before = reader.rest();
        let len = pass_all::<T>(form, reader)?;
        let blocks = &before[..before.len() - reader.rest().len()];
        Ok(Seq::new(blocks, len, form))
    };
    [T: Item<'b>] Vec<T>, T, |form, reader| read_all(form, reader, Vec::new(), Vec::reserve, Vec::push);
    [K: FromAvro<'b, wire::Str> + Eq + Hash, V: Item<'b>, S: BuildHasher + Default] HashMap<K, V, S>, (K, V), |form, reader| {
        read_all(form, reader, HashMap::default(), HashMap::reserve, |map: &mut Self, (key, value)| {
            map.insert(key, value);
        })
    };
    [K: FromAvro<'b, wire::Str> + Ord, V: Item<'b>] BTreeMap<K, V>, (K, V), |form, reader| {
        read_all(form, reader, BTreeMap::new(), |_, _| (), |map: &mut Self, (key, value)| {
            map.insert(key, value);
        })
    };
}

impl<'b, W, T: ItemOf<'b, W>> ItemOf<'b, wire::Array<W>> for Seq<'b, T> {
    const FORM: &'static Form = within!(T::FORM);
}

impl<'b, W, T: ItemOf<'b, W>> ItemOf<'b, wire::Array<W>> for Vec<T> {
    const FORM: &'static Form = within!(T::FORM);
}

impl<'b, W, K, V, S> ItemOf<'b, wire::Map<W>> for HashMap<K, V, S>
where
    K: FromAvro<'b, wire::Str> + Eq + Hash,
    V: ItemOf<'b, W>,
    S: BuildHasher + Default,
{
    const FORM: &'static Form = within!(<(K, V) as ItemOf<'b, wire::Entry<W>>>::FORM);
}

impl<'b, W, K, V> ItemOf<'b, wire::Map<W>> for BTreeMap<K, V>
where
    K: FromAvro<'b, wire::Str> + Ord,
    V: ItemOf<'b, W>,
{
    const FORM: &'static Form = within!(<(K, V) as ItemOf<'b, wire::Entry<W>>>::FORM);
}
