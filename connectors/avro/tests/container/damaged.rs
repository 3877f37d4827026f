//! Whatever the bytes are, the outcome is an error of ours or the file's records, never a panic or a claim that is believed.

use apache_avro::Codec as Theirs;
use proptest::prelude::*;
use spate_avro::container::{Container, ContainerError};

use crate::{Pair, claims, codecs, expected, file, pairs};

#[test]
fn a_file_that_is_cut_anywhere_is_an_error_but_between_blocks() {
    for (codec, theirs) in codecs() {
        let whole = file(theirs, 20, 10);
        let mut ends = Vec::new();
        for length in 0..whole.len() {
            match pairs(&whole[..length]) {
                Ok(found) => ends.push(found.len()),
                Err(error) => assert!(
                    error.contains("the file ends inside"),
                    "{codec} {length}: {error}"
                ),
            }
        }
        // Behind the header and behind the first block.
        assert_eq!(ends, [0, 10], "{codec}");
    }
}

#[test]
fn what_is_no_container_says_so() {
    for (bytes, said) in [
        (&b""[..], "the file ends inside the magic bytes"),
        (b"{\"key\": 1}", "this is no Avro container file"),
        (b"Obj\x02", "this is no Avro container file"),
        (
            b"Obj\x01\x00mark mark mark mark",
            "the file's header has no schema",
        ),
    ] {
        let error = pairs(bytes).expect_err("no file");
        assert!(error.starts_with(said), "{error}");
    }
    let mut unknown = file(Theirs::Snappy, 1, 1);
    let at = unknown
        .windows(6)
        .position(|bytes| bytes == b"snappy")
        .expect("the codec's name");
    unknown[at..at + 6].copy_from_slice(b"brotli");
    assert_eq!(
        pairs(&unknown[..]),
        Err(
            "the file is compressed with `brotli`, which is no codec of Avro's specification"
                .to_owned()
        )
    );
}

/// A file with one block of that count, said size and content.
fn block(count: i64, size: i64, content: &[u8], codec: &str) -> Vec<u8> {
    let mut file = b"Obj\x01".to_vec();
    let bytes = |file: &mut Vec<u8>, bytes: &[u8]| {
        long(file, bytes.len() as i64);
        file.extend_from_slice(bytes);
    };
    // A block of the map with its size, as writers may write it.
    long(&mut file, -2);
    long(&mut file, 1);
    bytes(&mut file, b"avro.codec");
    bytes(&mut file, codec.as_bytes());
    bytes(&mut file, b"avro.schema");
    bytes(
        &mut file,
        <Pair<'_> as spate_avro::AvroRecord<'_>>::SCHEMA.as_bytes(),
    );
    long(&mut file, 0);
    file.extend_from_slice(&[7; 16]);
    long(&mut file, count);
    long(&mut file, size);
    file.extend_from_slice(content);
    file.extend_from_slice(&[7; 16]);
    file
}

pub(crate) fn long(out: &mut Vec<u8>, value: i64) {
    let mut left = (value << 1 ^ value >> 63) as u64;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

#[test]
fn a_block_that_lies_is_an_error_that_says_where() {
    let pair = [2, 2, b'v'];
    assert_eq!(
        pairs(&block(1, 3, &pair, "null")[..]),
        Ok(vec![(1, "v".to_owned())])
    );
    assert_eq!(
        pairs(&block(0, 3, &pair, "null")[..]),
        Ok(vec![]),
        "nothing asked of it"
    );
    for (file, said) in [
        (block(-1, 3, &pair, "null"), "a negative count"),
        (block(1, -3, &pair, "null"), "a size that no block has"),
        (
            block(1, i64::MAX, &pair, "null"),
            "a size that no block has",
        ),
        (
            block(1, 200 << 20, &pair, "null"),
            "the file ends inside a block",
        ),
        (block(1, 2, &pair, "null"), "another mark than the file's"),
        (block(2, 3, &pair, "null"), "the payload ends here"),
        (block(i64::MAX, 3, &pair, "null"), "the payload ends here"),
        (
            block(1, 5, &[2, 2, b'v', 2, 0], "null"),
            "2 bytes are left behind the end",
        ),
        (
            block(1, 3, &pair, "deflate"),
            "cannot be decompressed (deflate)",
        ),
        (block(1, 3, &pair, "snappy"), "too short for its checksum"),
        (
            block(1, 5, &[0xff; 5], "snappy"),
            "cannot be decompressed (snappy)",
        ),
        (
            block(1, 3, &pair, "zstandard"),
            "cannot be decompressed (zstandard)",
        ),
        (
            block(1, 3, &pair, "bzip2"),
            "cannot be decompressed (bzip2)",
        ),
        (block(1, 3, &pair, "xz"), "cannot be decompressed (xz)"),
    ] {
        let error = pairs(&file[..]).expect_err(said);
        assert!(error.contains(said), "{said}: {error}");
    }
}

#[test]
fn a_block_that_would_fill_the_memory_is_refused() {
    let zeros = vec![0u8; 1 << 20];
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..300 {
        std::io::Write::write_all(&mut encoder, &zeros).expect("memory");
    }
    let bomb = encoder.finish().expect("memory");
    let error = pairs(&block(1, bomb.len() as i64, &bomb, "deflate")[..]).expect_err("too much");
    assert!(error.contains("expands to more than 256 MiB"), "{error}");
    // Streams behind each other are one block: 17 of 16 MiB are too much.
    let zeros = vec![0u8; 16 << 20];
    for (codec, stream) in [
        (
            "zstandard",
            zstd::encode_all(&zeros[..], 1).expect("memory"),
        ),
        (
            "bzip2",
            compressed(bzip2::read::BzEncoder::new(
                &zeros[..],
                bzip2::Compression::fast(),
            )),
        ),
        (
            "xz",
            compressed(liblzma::read::XzEncoder::new(&zeros[..], 0)),
        ),
    ] {
        let bomb = stream.repeat(17);
        let error = pairs(&block(1, bomb.len() as i64, &bomb, codec)[..]).expect_err("too much");
        assert!(
            error.contains("expands to more than 256 MiB"),
            "{codec}: {error}"
        );
    }
    // Snappy says its length first: it is not believed.
    let claim = [0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0];
    let error = pairs(&block(1, 8, &claim, "snappy")[..]).expect_err("too much");
    assert!(error.contains("expands to more than 256 MiB"), "{error}");
}

fn compressed(mut encoder: impl std::io::Read) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.read_to_end(&mut out).expect("memory");
    out
}

#[test]
fn a_dictionary_that_is_larger_than_any_block_is_not_allocated() {
    let pair = [2, 2, b'v'];
    let mut stream = compressed(liblzma::read::XzEncoder::new(&pair[..], 6));
    let whole = block(1, stream.len() as i64, &stream, "xz");
    assert_eq!(pairs(&whole[..]), Ok(vec![(1, "v".to_owned())]));
    // Behind the stream's header: the size and flags of the block's, one filter of one byte, which is the dictionary's size, padding, checksum.
    let head = &mut stream[12..24];
    assert_eq!(head[..4], [2, 0, 0x21, 1]);
    head[4] = 40; // 4 GiB
    let checksum = crc32fast::hash(&head[..8]);
    head[8..].copy_from_slice(&checksum.to_le_bytes());
    let error = pairs(&block(1, stream.len() as i64, &stream, "xz")[..]).expect_err("too much");
    assert!(error.contains("cannot be decompressed (xz)"), "{error}");
}

#[test]
fn nothing_is_read_behind_an_error_of_a_record() {
    let file = block(3, 5, &[2, 2, b'v', 2, 0xff], "null");
    let mut container = Container::open(&file[..]).expect("a file");
    let mut buffer = Vec::new();
    let block = container
        .next_block(&mut buffer)
        .expect("a block")
        .expect("a block");
    assert_eq!(block.count(), 3);
    let results: Vec<bool> = block
        .records::<Pair<'_>>()
        .map(|pair| pair.is_ok())
        .collect();
    assert_eq!(results, [true, false]);
    assert!(matches!(
        Container::open(&b"Obj"[..]),
        Err(ContainerError::Truncated { position: 0, .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Changed bytes give an error or records, for every codec.
    #[test]
    fn changed_bytes_never_panic(
        which in 0usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let (_, theirs) = codecs()[which];
        let mut bytes = file(theirs, 30, 10);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        claims::container(&bytes);
        if let Ok(found) = pairs(&bytes[..]) {
            prop_assert!(found.len() <= expected(30).len() * 100);
        }
    }
}
