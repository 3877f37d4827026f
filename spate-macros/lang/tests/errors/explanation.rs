//! The data file: sections with a cause and fenced blocks. Its own first paragraphs say how it is written.

/// All of the file.
pub(crate) struct Explanations {
    /// Files that are there for every example.
    pub(crate) files: Vec<Block>,
    /// One section per code, in order.
    pub(crate) entries: Vec<Entry>,
}

/// What is to be said of one code.
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) cause: String,
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block.
#[derive(Clone)]
pub(crate) struct Block {
    /// `rust`, `json`, `sql` or `toml`.
    pub(crate) language: String,
    pub(crate) role: Role,
    /// The file that it is; empty for Rust and TOML.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What a block is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    File,
    Mistake,
    Fix,
}

impl Explanations {
    pub(crate) fn read(text: &str) -> Self {
        let (introduction, sections) = text.split_once("\n## ").expect("sections");
        let (_, files) = blocks(introduction);
        let entries = sections.split("\n## ").map(Entry::read).collect();
        Explanations { files, entries }
    }
}

impl Entry {
    fn read(section: &str) -> Self {
        let (heading, rest) = section.split_once('\n').expect("a section has a text");
        let (id, name) = heading
            .split_once(' ')
            .unwrap_or_else(|| panic!("`{heading}` is no code and name"));
        let (cause, blocks) = blocks(rest);
        let (id, name) = (id.to_owned(), name.to_owned());
        Entry {
            id,
            name,
            cause,
            blocks,
        }
    }
}

/// The prose and the fenced blocks of a text.
fn blocks(text: &str) -> (String, Vec<Block>) {
    let mut parts = text.split("```");
    let prose = parts.next().unwrap_or_default().trim().to_owned();
    let mut blocks = Vec::new();
    while let Some(fenced) = parts.next() {
        let (info, text) = fenced.split_once('\n').expect("a fence says what it is of");
        let mut words = info.split(' ');
        let language = words.next().unwrap_or_default().to_owned();
        let role = match words.next() {
            Some("file") => Role::File,
            Some("mistake") => Role::Mistake,
            Some("fix") => Role::Fix,
            _ => panic!("a block is a `file`, a `mistake` or a `fix`: {info}"),
        };
        let path = words.next().unwrap_or_default().to_owned();
        let text = text.to_owned();
        blocks.push(Block {
            language,
            role,
            path,
            text,
        });
        let between = parts.next().unwrap_or_default().trim();
        assert!(between.is_empty(), "text between blocks: {between}");
    }
    (prose, blocks)
}
