//! What holds for every input: a file is read or refused, and what is read is looked at as a whole. Shared with the fuzz target `container`.

use spate_avro::container::Container;
use spate_runtime::scratch::Scratch;

use crate::Pair;

/// Reads whatever there is.
pub(crate) fn container(bytes: &[u8]) {
    let Ok(mut container) = Container::open(bytes) else {
        return;
    };
    let same = container.expect::<Pair<'_>>().is_ok();
    let mut resolution = container.resolution::<Pair<'_>>().ok();
    assert!(
        !same || resolution.is_some(),
        "the very schema is read as itself"
    );
    let mut buffer = Vec::new();
    while let Ok(Some(block)) = container.next_block(&mut buffer) {
        assert!(block.count() > 0, "blocks without records are passed over");
        let mut read = 0;
        for pair in block.records::<Pair<'_>>() {
            let Ok(pair) = pair else { break };
            read += 1;
            assert!(pair.value.len() <= block.bytes().len());
        }
        assert!(read <= block.count(), "no more than the block says");
        let scratch = Scratch::new();
        if let Some(resolution) = &mut resolution {
            let resolved = block.resolved::<Pair<'_>>(resolution, &scratch);
            let resolved = resolved.take_while(Result::is_ok).count() as u64;
            assert!(resolved <= block.count(), "no more than the block says");
            assert!(!same || resolved == read, "either way");
        }
        if !same {
            break;
        }
    }
}
