//! Every code that the macros can report: its number, what it is about, and the advice that goes with it by default.
//!
//! Numbers are stable: one that is not needed any more goes to [`RETIRED`] and is never given to something else. SP001-SP069
//! belong to `pipeline!`, SP070-SP089 to Avro schemas, SP090-SP119 to table definitions and rows. The cause, an example and the
//! fix of each stand in `explanations.md` beside this file.

/// Numbers that were published and mean nothing any more.
pub const RETIRED: &[&str] = &["SP078"];

/// One line of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// `SP` and three digits.
    pub id: &'static str,
    /// The class of mistake, as a heading of the reference.
    pub title: &'static str,
    /// Default advice; empty where only the message can tell.
    pub help: &'static str,
}

macro_rules! catalogue {
    ($($name:ident = $id:literal, $title:literal, $help:literal;)*) => {
        /// A code of the catalogue. Variants are named after the mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// All codes, in order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The catalogue's line for this code.
            pub const fn entry(self) -> &'static Entry {
                match self {
                    $(Code::$name => &Entry { id: $id, title: $title, help: $help },)*
                }
            }
        }
    };
}

catalogue! {
    // Syntax and shape.
    Empty = "SP001", "The block has no stages.", "write `name { kafka -> avro::<Record> -> clickhouse::<Row> }`";
    MissingBody = "SP002", "A pipeline has no body.", "a pipeline is `name(parameters) { stages }`";
    MissingStage = "SP003", "An arrow has no stage on one side.", "";
    MissingArrow = "SP004", "Two stages stand side by side.", "";
    WrongJoiner = "SP005", "Stages are joined with something else than `->`.", "";
    NeedsArguments = "SP006", "A stage that needs arguments has no parentheses.", "";
    WrongBrackets = "SP007", "Arguments or arms are in the wrong brackets.", "";
    TypeArgument = "SP008", "A type argument is misplaced or misspelt.", "";
    Reserved = "SP009", "A word is reserved for a later version.", "choose another name";
    StraySemicolon = "SP010", "A semicolon, or a second chain after it, stands where the chain goes on.", "a pipeline is one chain of stages without `;`; only `let` states before it and clauses after it end with one";
    WrongPlace = "SP011", "A state or a clause stands in the wrong place.", "the order is: `let` states, then the chain, then clauses";
    BrokenExpression = "SP012", "An argument cannot be read.", "";
    DuplicateLabel = "SP013", "Two stages have the same label.", "labels name stages in metrics and graphs, so each is used once";
    MissingArgument = "SP014", "A stage lacks an argument.", "";
    ExtraArgument = "SP015", "A stage has too many arguments.", "";
    UnexpectedToken = "SP016", "Something stands where a stage, an arrow or a clause is expected.", "";
    UnknownStage = "SP017", "There is no such stage.", "";
    UnknownOption = "SP018", "The stage has no such option.", "";
    DuplicateOption = "SP019", "An option is given twice.", "keep one of the two";
    PositionalAfterNamed = "SP020", "A positional argument follows a named one.", "positional arguments come first";
    WrongValue = "SP021", "An option has a value of the wrong kind.", "";

    // What a stage is given.
    ClosureArity = "SP022", "A closure has the wrong number of parameters.", "";
    NotAFunction = "SP023", "An argument is neither a closure nor the path of a function.", "it would be evaluated again for every record: bind it before the chain, `let mut f = ..;`, and write `|record| f(record)`";
    AsyncClosure = "SP024", "A closure is asynchronous, or waits.", "stages run to their end on a driver thread and never wait; look data up before, in a `let` state, or after, in the sink";

    // The order of stages.
    NoSource = "SP025", "The first stage is not a source.", "";
    SourceInside = "SP026", "A source stands inside the chain.", "a pipeline has one source, at its start";
    NoSink = "SP027", "The chain does not end in a sink.", "";
    AfterSink = "SP028", "A stage follows the sink.", "a sink takes the records for good; `tee { a: .., b: .. }` sends them to several";
    NotDecoded = "SP029", "A stage that works on records stands before the decoder.", "";
    TwoDecoders = "SP030", "There are two decoders.", "a pipeline decodes once; convert further with `map` or `try_map`";
    MoveClosure = "SP031", "A closure is `move`.", "it is built anew for every record, so `move` takes its captures away with the first one; without it they are borrowed, and a `let mut` state before the chain lives as long as its thread";
    StateAsFunction = "SP032", "A state or a parameter is passed where a function is expected.", "";

    // Parameters, states, clauses, settings.
    BadParameter = "SP033", "A parameter is not `name: Type`.", "parameters are written as in a function: `name(limit: i64, region: String)`";
    BadState = "SP034", "A `let` state cannot be read.", "a state is `let mut seen = Recent::new(1000);`";
    BadClause = "SP035", "A clause cannot be read.", "a clause is `name = value;`";
    UnknownClause = "SP036", "There is no such clause.", "";
    DuplicateClause = "SP037", "A clause is given twice.", "keep one of the two";
    BadPolicy = "SP040", "`on_error` has an unknown value.", "";
    NeverFails = "SP041", "`on_error` stands on a stage that cannot fail.", "";

    // Branches.
    BadArm = "SP042", "An arm of a branch cannot be read.", "";
    NoArms = "SP043", "A branch has no arms.", "";
    DropPlace = "SP044", "`drop` stands elsewhere than as an arm of `route`.", "`drop` is a whole arm of `route`, `pattern => drop`; a `filter` drops by a condition, and the sink `discard` takes rows and forgets them";
    DuplicateArm = "SP045", "Two arms of a `tee` have the same name.", "arms name their sinks in the configuration and in metrics, so each is used once";
    DuplicateSink = "SP046", "Two sinks of a pipeline have the same name.", "";

    BadSetting = "SP050", "A literal setting is not allowed by the system that it names.", "";
    UnknownRecord = "SP051", "Nothing tells the record's type where it is needed.", "";

    // What this build has.
    NotAvailable = "SP060", "The language knows this, this version does not build it yet.", "";
    FeatureOff = "SP061", "A stage belongs to a feature that is off.", "";
    Attribute = "SP062", "An attribute cannot be read or has nothing to stand on.", "attributes and doc comments go before the name of a pipeline";
    NoFront = "SP063", "The procedural macro was called without its front.", "call `spate::pipeline!`";

    // Avro schemas and `#[derive(AvroRecord)]`.
    SchemaFile = "SP070", "A schema file cannot be read.", "";
    SchemaJson = "SP071", "A schema file is not JSON.", "";
    SchemaRecord = "SP072", "A schema file has no such record, enum or union.", "";
    SchemaUnknownType = "SP073", "A schema names a type that it does not define.", "";
    SchemaDuplicate = "SP074", "A schema says something twice.", "";
    SchemaInvalid = "SP075", "A schema breaks a rule of Avro's specification.", "";
    FieldUnknown = "SP076", "A field is not in the schema.", "";
    FieldType = "SP077", "A field's Rust type cannot hold what the schema says.", "";
    RecordShape = "SP079", "`#[derive(AvroRecord)]` stands on something that it cannot derive, or its attribute is wrong.", "";
    EnumShape = "SP080", "`#[derive(AvroEnum)]` stands on something that it cannot derive, or its attribute is wrong.", "";
    EnumSymbol = "SP081", "A symbol of an Avro enum has no variant, or a variant has no symbol.", "";
    UnionShape = "SP082", "`#[derive(AvroUnion)]` stands on something that it cannot derive, or its attribute is wrong.", "";
    UnionBranch = "SP083", "A branch of an Avro union has no variant, or a variant has no branch.", "";
    SchemaMacro = "SP084", "`avro_schema!` is called with something else than a schema file and its options.", "";
    SchemaCompat = "SP085", "Records of a file of `compat` cannot be read as the compiled schema.", "";

    // Table definitions and `#[derive(Row)]`.
    TableFile = "SP090", "A table definition cannot be read.", "";
    TableSql = "SP091", "A table definition is not a `CREATE TABLE` that we understand.", "";
    TableUnknown = "SP092", "A file does not define the table, or defines several.", "";
    ColumnLater = "SP093", "A column's type cannot be written yet.", "";
    FieldWithoutColumn = "SP094", "A field has no column.", "";
    ColumnWithoutField = "SP095", "A column without a default has no field.", "";
    ColumnComputed = "SP096", "A column that the server computes has a field.", "leave the field out of the struct";
    ColumnNotNull = "SP097", "An `Option` is written into a column that takes no NULL.", "";
    RowShape = "SP098", "`#[derive(Row)]` stands on something that it cannot derive, or its attribute is wrong.", "";
    ColumnTwice = "SP099", "Two fields are written into one column.", "keep one of the two";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Code, RETIRED};

    #[test]
    fn a_retired_number_is_not_used_again() {
        let used = |id: &&str| Code::ALL.iter().any(|code| code.entry().id == *id);
        assert_eq!(RETIRED.iter().find(|id| used(id)), None);
    }

    #[test]
    fn codes_are_unique_ordered_and_have_a_title() {
        let ids: Vec<&str> = Code::ALL.iter().map(|code| code.entry().id).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        for code in Code::ALL {
            let entry = code.entry();
            assert!(
                entry.id.len() == 5 && entry.id.starts_with("SP"),
                "{entry:?}"
            );
            assert!(
                entry.title.ends_with('.') && !entry.help.ends_with('.'),
                "{entry:?}"
            );
        }
    }
}
