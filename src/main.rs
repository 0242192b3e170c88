//! Starts the plugin's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    streamscope::plugin::run()
}
