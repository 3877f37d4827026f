use spate::prelude::*;
