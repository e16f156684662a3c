//! A packet capture, classic or of the next generation.

use whimbrel_net::capture::CaptureReader;

/// Reads all datagrams of a capture.
pub fn capture(data: &[u8]) {
    let Ok(reader) = CaptureReader::new(data) else {
        return;
    };
    let mut datagrams = 0;
    for datagram in reader {
        let Ok(datagram) = datagram else { break };
        assert!(datagram.payload.len() < data.len());
        datagrams += 1;
    }
    // Each takes at least a record header, so the count is bounded by the file.
    assert!(datagrams <= data.len() / 16);
}
