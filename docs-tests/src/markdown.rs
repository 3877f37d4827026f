//! As much of Markdown as these tests need: fenced blocks and the text between them. A fence begins at the left margin and has three
//! backticks; the tests refuse any other.

/// A fenced block of code.
#[derive(Debug, PartialEq, Eq)]
pub struct Fence<'a> {
    /// The line of the page in which it opens, from 1.
    pub line: usize,
    /// What stands behind the opening fence: `rust,no_run`.
    pub info: &'a str,
    /// The comment in the line before it, without its marks: `prelude: orders`.
    pub comment: Option<&'a str>,
    /// The lines between the fences.
    pub lines: Vec<&'a str>,
}

impl Fence<'_> {
    /// What it is written in: `rust`.
    pub fn language(&self) -> &str {
        self.info.split(',').next().unwrap_or_default()
    }

    /// Whether an attribute stands behind the language.
    pub fn has(&self, attribute: &str) -> bool {
        self.info.split(',').skip(1).any(|word| word == attribute)
    }

    /// The words behind `key: ` in the comment before it.
    pub fn words(&self, key: &str) -> Vec<&str> {
        let rest = self
            .comment
            .and_then(|comment| comment.strip_prefix(key)?.strip_prefix(": "));
        rest.map_or(Vec::new(), |rest| rest.split(' ').collect())
    }

    /// The lines as one text.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A line of text.
    Text(&'a str),
    /// A block of code.
    Code(Fence<'a>),
}

/// The parts of a page, in order.
pub fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut comment = None;
    while let Some((n, line)) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let inside = lines.by_ref().map(|(_, line)| line);
            parts.push(Part::Code(Fence {
                line: n + 1,
                info,
                comment: comment.take(),
                lines: inside.take_while(|line| *line != "```").collect(),
            }));
            continue;
        }
        if !line.is_empty() {
            let inside = line.strip_prefix("<!-- ");
            comment = inside.and_then(|rest| rest.strip_suffix(" -->"));
        }
        parts.push(Part::Text(line));
    }
    parts
}

/// The blocks of a page, in order.
pub fn fences(page: &str) -> Vec<Fence<'_>> {
    let fence = |part| match part {
        Part::Code(fence) => Some(fence),
        Part::Text(_) => None,
    };
    parts(page).into_iter().filter_map(fence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# One\n\n<!-- prelude: p q -->\n\n```rust,no_run\n# hidden\nlet x = 1;\n```\n\n```text\nno\n```\n";

    #[test]
    fn blocks_have_their_language_their_comment_and_their_lines() {
        let blocks = fences(PAGE);
        assert_eq!(blocks.len(), 2);
        assert_eq!(
            (
                blocks[0].line,
                blocks[0].language(),
                blocks[0].has("no_run")
            ),
            (5, "rust", true)
        );
        assert!(!blocks[0].has("rust") && blocks[0].words("pre").is_empty());
        assert_eq!(blocks[0].words("prelude"), ["p", "q"]);
        assert_eq!(blocks[0].text(), "# hidden\nlet x = 1;\n");
        assert_eq!((blocks[1].info, blocks[1].comment), ("text", None));
    }
}
