//! "Did you mean": the nearest known name, and lists of names as prose.

/// The candidate nearest to `word`, if it is near enough to be a slip of the keyboard.
///
/// Two edits at most, one where either word has four letters or fewer; swapping two neighbours is one edit. The first of several
/// equally near candidates wins. An exact match is no suggestion.
pub fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.strip_prefix("r#").unwrap_or(word).to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let limit = if lower.chars().count().min(candidate.chars().count()) <= 4 {
            1
        } else {
            2
        };
        let edits = distance(&lower, &candidate.to_lowercase(), limit);
        if edits <= limit && candidate != word && best.is_none_or(|(least, _)| edits < least) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// "`a`, `b` or `c`".
pub fn list(names: &[&str], last_join: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} {last_join} {last}", rest.join(", ")),
    }
}

/// Edits between two words (insert, delete, replace, swap neighbours), or a number above `limit`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_a_different_word_is_not() {
        let stages = ["avro", "map", "filter", "clickhouse"];
        for (word, meant) in [
            ("mpa", Some("map")),
            ("avor", Some("avro")),
            ("fliter", Some("filter")),
            ("Filter", Some("filter")),
            ("clikhuse", Some("clickhouse")),
            ("my_sink", None),
            ("enmap", None),
            ("map", None),
            ("", None),
        ] {
            assert_eq!(suggest(word, stages), meant, "{word}");
        }
    }

    #[test]
    fn the_nearest_candidate_wins_not_the_first() {
        assert_eq!(
            suggest("filtermap", ["filter", "filter_map"]),
            Some("filter_map")
        );
    }

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(list(&["a", "b", "c"], "or"), "`a`, `b` or `c`");
        assert_eq!(list(&["a"], "or"), "`a`");
        assert_eq!(list(&[], "or"), "");
    }
}
