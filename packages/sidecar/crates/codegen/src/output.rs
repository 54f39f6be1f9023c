//! Compares generated files with the files of the checkout, and writes files that differ. A file is
//! generated whole, or as a part between two markers of a hand-written page.

use std::fs;
use std::path::{Path, PathBuf};

/// A generated file, or a generated part of a hand-written page.
pub struct GeneratedFile {
    /// The path from the root of the checkout.
    pub path: &'static str,
    /// The generated part of the page. `None` means that the whole file is generated.
    pub part: Option<Part>,
    /// The text of the file or of the part.
    pub text: String,
}

/// A part of a page, between two markers.
#[derive(Clone, Copy)]
pub struct Part {
    /// The folder with the declarations that the part is generated from.
    pub source: &'static str,
    /// The name of the part in its page.
    pub name: &'static str,
}

impl Part {
    /// Returns `page` with `text` between the markers of this part.
    fn placed(self, page: &str, text: &str) -> Result<String, String> {
        let Self { source, name } = self;
        let begin = format!("<!-- generated from {source} by `pnpm generate`: begin {name} -->");
        let end = format!("<!-- end {name} -->");
        let missing = || format!("the line {begin} or the line {end} is missing");
        let (before, rest) = page.split_once(&begin).ok_or_else(missing)?;
        let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
        Ok(format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim_end()))
    }
}

impl GeneratedFile {
    /// Returns the text that the whole file must have. A hand-written page is read from `root`.
    fn whole_text(&self, root: &Path) -> Result<String, String> {
        let Some(part) = self.part else { return Ok(self.text.clone()) };
        let page = fs::read_to_string(root.join(self.path)).map_err(|error| format!("{}: {error}", self.path))?;
        part.placed(&page, &self.text).map_err(|reason| format!("{}: {reason}", self.path))
    }

    fn is_stale(&self, root: &Path) -> Result<bool, String> {
        Ok(fs::read_to_string(root.join(self.path)).ok() != Some(self.whole_text(root)?))
    }
}

/// Returns the root of the checkout.
pub fn checkout() -> PathBuf {
    crate::workspace().join("../..")
}

/// Returns the paths of the files whose content in `root` differs from the generated content.
pub fn stale(root: &Path, files: &[GeneratedFile]) -> Result<Vec<&'static str>, String> {
    let mut paths = Vec::new();
    for file in files {
        if file.is_stale(root)? && !paths.contains(&file.path) {
            paths.push(file.path);
        }
    }
    Ok(paths)
}

/// Writes the files whose content in `root` differs from the generated content. Returns the paths
/// of the written files.
pub fn write(root: &Path, files: &[GeneratedFile]) -> Result<Vec<&'static str>, String> {
    let stale = stale(root, files)?;
    for file in files.iter().filter(|file| stale.contains(&file.path)) {
        let path = root.join(file.path);
        let failed = |error: std::io::Error| format!("cannot write {}: {error}", file.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&path, file.whole_text(root)?).map_err(failed)?;
    }
    Ok(stale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part = Part { source: "crates/x", name: "table" };
    const PAGE: &str =
        "Before.\n\n<!-- generated from crates/x by `pnpm generate`: begin table -->\n<!-- end table -->\n\nAfter.\n";

    /// Runs `test` in a folder that is removed afterwards.
    fn with_folder(name: &str, test: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
        let root = std::env::temp_dir().join(format!("coldframe-codegen-{name}-{}", std::process::id()));
        fs::create_dir_all(&root).map_err(|error| error.to_string())?;
        let result = test(&root);
        fs::remove_dir_all(&root).map_err(|error| error.to_string())?;
        result
    }

    #[test]
    fn finds_a_stale_file_until_the_file_is_written() -> Result<(), String> {
        with_folder("file", |root| {
            let mut files = [GeneratedFile { path: "made/a.js", part: None, text: "one\n".to_owned() }];
            assert_eq!(stale(root, &files)?, ["made/a.js"], "a missing file is stale");
            write(root, &files)?;
            assert_eq!(stale(root, &files)?, [""; 0]);
            files[0].text = "two\n".to_owned();
            assert_eq!(stale(root, &files)?, ["made/a.js"]);
            assert_eq!(write(root, &files)?, ["made/a.js"]);
            assert_eq!(stale(root, &files)?, [""; 0]);
            Ok(())
        })
    }

    #[test]
    fn keeps_the_text_around_a_generated_part() -> Result<(), String> {
        with_folder("part", |root| {
            let files = [GeneratedFile { path: "page.md", part: Some(PART), text: "| a |\n".to_owned() }];
            fs::write(root.join("page.md"), PAGE).map_err(|error| error.to_string())?;
            assert_eq!(stale(root, &files)?, ["page.md"]);
            write(root, &files)?;
            assert_eq!(stale(root, &files)?, [""; 0]);
            let page = fs::read_to_string(root.join("page.md")).map_err(|error| error.to_string())?;
            assert!(page.starts_with("Before.\n\n<!--") && page.ends_with("-->\n\nAfter.\n"), "{page}");
            assert!(page.contains("-->\n\n| a |\n\n<!--"), "{page}");
            Ok(())
        })
    }

    #[test]
    fn a_page_without_the_markers_is_an_error() {
        assert!(PART.placed("Before.\n", "| a |").is_err());
    }
}
