//! The folder of snapshots, which must exist before the wall closes.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Makes a folder and its missing parents, of which only the user may read them. The names of new
/// folders are flushed to the disk, because the store relies on them.
pub fn make(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|path| !path.exists()).collect();
    for path in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            made => made?,
        }
        File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()?;
    }
    if path.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_missing_parents_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let root = std::env::temp_dir().join(format!("coldframe-wall-folders-{}", std::process::id()));
        let inner = root.join("a/b");
        make(&inner).expect("made");
        make(&inner).expect("there");
        assert_eq!(std::fs::metadata(&inner).expect("a folder").permissions().mode() & 0o777, 0o700);
        std::fs::write(inner.join("file"), "").expect("written");
        assert!(make(&inner.join("file")).is_err() && make(&inner.join("file/below")).is_err());
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
