//! The engine of Spate: records, acknowledgements, checkpoints, backpressure and drain
