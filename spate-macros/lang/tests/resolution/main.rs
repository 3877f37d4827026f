//! What the macros know of schemas is what the decoder knows of them at run time: the schema text that is compiled means the same as
//! the file, and a writer's schema that a build accepts is one that the decoder makes a plan for.

mod compat;
mod draw;
mod pair;
mod printed;
