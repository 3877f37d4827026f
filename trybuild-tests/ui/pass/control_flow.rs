//! Closures are closures: `return`, `?`, loops and labels in them are theirs, and states are borrowed by one stage after the
//! other. What stands in the loop without a closure stays there as well.

use std::collections::HashMap;

use spate::StageError;

/// Lends what it remembers.
fn numbered<'a, 's>(line: &'a [u8], seen: &'s mut Vec<usize>, (least, add): (usize, usize)) -> (&'a [u8], &'s mut Vec<usize>) {
    seen.push(line.len().max(least) + add);
    (line, seen)
}

macro_rules! half {
    ($of:expr) => {
        $of / 2
    };
}

spate::pipeline! {
    pub lines(longest: usize, words: Vec<String>) {
        let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
        let mut seen = Vec::new();
        let limit = match words.first() {
            Some(word) => word.parse::<usize>()?,
            None => 'search: {
                for word in &words {
                    if word.len() > longest { break 'search word.len(); }
                }
                longest
            }
        };
        memory
        -> bytes
        -> filter(|line| {
            if line.is_empty() { return false; }
            for byte in *line {
                if *byte == b' ' { continue; }
                if *byte == b'#' { break; }
            }
            'words: loop {
                for word in &words {
                    if word.as_bytes() == *line { break 'words false; }
                }
                break true;
            }
        })
        -> self::numbered(&mut seen, if limit == 0 { (half!(limit), 1) } else { (limit, 0) })
        -> map(|(line, seen)| { seen.pop(); line })
        -> inspect(|line| *counts.entry(line.to_vec()).or_default() += 1)
        -> filter(|line| { let count = &mut counts; count.get(*line).is_some_and(|count| *count < 3) })
        -> try_map(|line| {
            let text = std::str::from_utf8(line)?;
            let Some((name, number)) = text.split_once('=') else { return Err(StageError::new("no `=`")); };
            Ok((name, number.parse::<u16>()?))
        }, on_error = skip)
        -> try_filter(|(_, number)| Ok(i8::try_from(*number)? > 0), on_error = skip)
        -> try_flat_map(|(name, number)| {
            if name.is_empty() { return Err(StageError::new("no name")); }
            Ok((0..number).map(move |n| (name, n)))
        })
        -> filter_map(|(name, n)| { let first = name.chars().next()?; Some((first, n)) })
        -> route(|(first, n)| (*first, usize::from(*n))) {
            ('a', n) if matches!(n, 1 | 2) => drop,
            (_, n) if half!(n) > longest => large: map(|(_, n)| n.to_string()) -> capture,
            (_, n) if { let mut odd = false; for k in 0..n { odd = k % 2 == 0; if k > 9 { break; } } odd } => odd: drop,
            (_, n) if seen.get(n).is_some() => known: drop,
            _ => map(|(first, _)| first.to_string()) -> firsts: capture,
        }
    }
}
