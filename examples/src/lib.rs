//! Whole programs that use Spate
