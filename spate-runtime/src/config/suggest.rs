//! "Did you mean": the nearest known name to a misspelt one.

/// The known name that is nearest to `name`, if one is near enough to be a misspelling of it.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = normal(name);
    let limit = (name.len() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&name, &normal(candidate)), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean ..? known keys: ..`, or what of it makes sense.
pub(crate) fn hint<'a>(
    name: &str,
    what: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let mut text = String::new();
    if let Some(near) = nearest(name, known.clone()) {
        text.push_str(&format!("; did you mean `{near}`?"));
    }
    let known: Vec<&str> = known.into_iter().collect();
    if known.is_empty() {
        text.push_str(&format!("; there are no {what} here"));
    } else {
        let separator = if text.is_empty() { ";" } else { "" };
        text.push_str(&format!("{separator} known {what}: {}", known.join(", ")));
    }
    text
}

/// `maxRows`, `max-rows` and `max_rows` are the same misspelling.
fn normal(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .take(64)
        .collect()
}

/// Edits (insert, delete, replace, swap of neighbours) from one to the other.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i.max(j)
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        let known = ["brokers", "topic", "group_id", "max_rows"];
        assert_eq!(nearest("brokrs", known), Some("brokers"));
        assert_eq!(nearest("borkers", known), Some("brokers"));
        assert_eq!(nearest("max-rows", known), Some("max_rows"));
        assert_eq!(nearest("groupId", known), Some("group_id"));
        assert_eq!(nearest("max_row", known), Some("max_rows"));
        assert_eq!(nearest("password", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn a_hint_names_the_known_keys() {
        assert_eq!(
            hint("tpic", "keys", ["topic", "x"]),
            "; did you mean `topic`? known keys: topic, x"
        );
        assert_eq!(
            hint("zzzzz", "keys", ["topic", "x"]),
            "; known keys: topic, x"
        );
        assert_eq!(hint("zzzzz", "keys", []), "; there are no keys here");
    }
}
