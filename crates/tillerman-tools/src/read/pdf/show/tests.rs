//! Small files that would unpack into large ones.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::unpacks_within;

#[test]
fn what_is_packed_is_measured_before_it_is_unpacked() {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&[0; 300_000]).unwrap();
    let packed = packed.finish().unwrap();
    let mut file = b"%PDF-1.5\n".to_vec();
    for _ in 0..3 {
        file.extend_from_slice(b"1 0 obj\n<</Filter/FlateDecode>>\nstream\r\n");
        file.extend_from_slice(&packed);
        file.extend_from_slice(b"\nendstream\nendobj\n");
    }
    assert!(file.len() < 3_000);
    assert!(unpacks_within(&file, 900_000));
    assert!(!unpacks_within(&file, 899_999));
    assert!(unpacks_within(b"stream\nxstream", 0), "what is not packed does not count");
}
