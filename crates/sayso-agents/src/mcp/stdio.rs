//! The gateway over its own standard input and output: what a client starts in a server's place.

use super::guard::Port;
use super::hub::Hub;
use super::setting::GatewaySetting;
use crate::Error;
use crate::pipe::{Frame, Frames, LONGEST_LINE, Reader, Sink};
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;

/// Stands between a client on standard input and output and the servers, until the client ends.
///
/// # Errors
/// If it cannot be set up.
pub fn run_stdio(setting: &GatewaySetting) -> Result<(), Error> {
    let failed = |e| Error::io("use", Path::new("standard input and output"), e);
    let input = File::from(std::io::stdin().as_fd().try_clone_to_owned().map_err(failed)?);
    let output = File::from(std::io::stdout().as_fd().try_clone_to_owned().map_err(failed)?);
    run_between(setting, input, output)
}

/// The same over any two files.
///
/// # Errors
/// If it cannot be set up.
pub fn run_between(setting: &GatewaySetting, input: File, output: File) -> Result<(), Error> {
    let failed = |e| Error::io("use", Path::new("standard input and output"), e);
    let client = Arc::new(Client(Sink::new(output).map_err(failed)?));
    let hub = Hub::start(setting, client)?;
    let mut frames = Frames::new(input, LONGEST_LINE);
    let mut reader = Reader::default();
    loop {
        match frames.next() {
            Ok(Frame::Lines) => {
                for line in frames.lines().split_inclusive(|byte| *byte == b'\n') {
                    hub.line_from_client(&mut reader, line);
                }
            }
            Ok(Frame::TooLong(skimmed)) => hub.too_long_from_client(skimmed, LONGEST_LINE),
            Ok(Frame::End) | Err(_) => break,
        }
    }
    hub.finish();
    Ok(())
}

struct Client(Sink);

impl Port for Client {
    fn send(&self, line: &[u8]) -> bool {
        self.0.pass(line).is_ok()
    }

    fn say(&self, line: Vec<u8>) -> bool {
        self.0.say(line).is_ok()
    }
}
