//! The unix socket, in a folder that nobody else may enter.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process;

use thiserror::Error;
use tokio::net::UnixListener;

/// How many names are tried: another process can only have taken one on purpose.
const ATTEMPTS: u32 = 16;

/// Says why there is no socket.
#[derive(Debug, Error)]
pub(super) enum SocketError {
    #[error("cannot make a private folder for the socket in {}: {error}", parent.display())]
    Folder { parent: PathBuf, error: io::Error },
    #[error(
        "cannot listen on {}: {error}; a socket's path has at most 107 bytes, TMPDIR can name a shorter folder",
        path.display()
    )]
    Bind { path: PathBuf, error: io::Error },
}

/// Is the folder with the socket; [`PrivateSocket::remove`] takes both away.
#[derive(Debug)]
pub(super) struct PrivateSocket {
    folder: PathBuf,
    path: PathBuf,
}

impl PrivateSocket {
    /// Listens on a new socket, in a new folder inside `parent` or the system's folder for temporary files.
    pub(super) fn bind(parent: Option<OsString>) -> Result<(Self, UnixListener), SocketError> {
        let parent = parent
            .filter(|dir| !dir.is_empty())
            .map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = private_folder(&parent).map_err(|error| SocketError::Folder {
            parent: parent.clone(),
            error,
        })?;
        let socket = Self {
            path: folder.join("plugin.sock"),
            folder,
        };
        match UnixListener::bind(&socket.path) {
            Ok(listener) => Ok((socket, listener)),
            Err(error) => {
                socket.remove();
                Err(SocketError::Bind {
                    path: socket.path,
                    error,
                })
            }
        }
    }

    /// Gives the socket's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the socket and its folder.
    pub(super) fn remove(&self) {
        // Nothing is left to be done about a file that stays.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_dir(&self.folder);
    }
}

fn private_folder(parent: &Path) -> io::Result<PathBuf> {
    // A container image may have no folder for temporary files.
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(parent)?;
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..ATTEMPTS {
        let random = RandomState::new().hash_one((process::id(), attempt));
        let folder = parent.join(format!("streamscope-{:08x}", random as u32));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn the_folder_is_private_and_goes_away() {
        let parent = tempfile::tempdir().unwrap();
        let missing = parent.path().join("not/there/yet");
        let (socket, _listener) = PrivateSocket::bind(Some(missing.clone().into())).unwrap();
        let (other, _listener) = PrivateSocket::bind(Some(missing.clone().into())).unwrap();
        assert_ne!(socket.path(), other.path());
        assert_eq!(
            fs::metadata(&socket.folder).unwrap().permissions().mode() & 0o777,
            0o700
        );
        socket.remove();
        other.remove();
        assert_eq!(fs::read_dir(missing).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_is_explained_and_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let long = parent.path().join("l".repeat(100));
        let error = PrivateSocket::bind(Some(long.clone().into())).unwrap_err();
        assert!(error.to_string().contains("107 bytes"), "{error}");
        assert_eq!(fs::read_dir(long).unwrap().count(), 0);
    }
}
