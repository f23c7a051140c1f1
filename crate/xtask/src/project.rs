//! Where the project's files are, and which of two is newer.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The project's folder, with `name` appended.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("this package lies two folders down").join(name)
}

/// The time of the newest file in a file or folder; `None` if there is none.
pub fn newest(path: &Path) -> Option<SystemTime> {
    let meta = std::fs::metadata(path).ok()?;
    if meta.is_file() {
        return meta.modified().ok();
    }
    let entries = std::fs::read_dir(path).ok()?;
    entries.filter_map(|entry| newest(&entry.ok()?.path())).max()
}

/// Whether `output` is there and no file in `inputs` is newer.
pub fn is_current(output: &Path, inputs: &[PathBuf]) -> bool {
    match newest(output) {
        Some(made) => inputs.iter().filter_map(|input| newest(input)).all(|changed| changed <= made),
        None => false,
    }
}
