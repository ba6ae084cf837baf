//! Where the kept documents of an input are put: below the folder, under the input's own name.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crate::document::InputFile;
use crate::error::{Error, Result};
use crate::read::cleaned;

/// What stands for a folder above the one we are in: nothing may be written outside the folder.
const ABOVE: &str = "%2E%2E";

/// What can't be done with an input that is gone once it was read.
pub(super) const ACTION: &str = "write the kept documents of";

/// The path of an input below the folder.
pub(super) fn target(input: &InputFile) -> PathBuf {
    mirrored(input.path.as_deref().unwrap_or(Path::new(&input.name)))
}

fn mirrored(path: &Path) -> PathBuf {
    let mut below = PathBuf::new();
    for component in cleaned(path).components() {
        match component {
            Component::Normal(name) => below.push(name),
            Component::ParentDir => below.push(ABOVE),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => (),
        }
    }
    below
}

/// Refuses inputs that can't be read a second time, and such as would be written to one place.
pub(in crate::report) fn review(inputs: &[InputFile], folder: &Path) -> Result<()> {
    if let Some(input) = inputs.iter().find(|input| input.again.is_none()) {
        return Err(input.read_once(ACTION));
    }
    let mut taken: HashMap<PathBuf, &InputFile> = HashMap::with_capacity(inputs.len());
    let clash = |first: &InputFile, second: &InputFile, place: &Path| {
        let (first, second) = (first.name.clone(), second.name.clone());
        Err(Error::SamePlace { first, second, path: folder.join(place).display().to_string() })
    };
    for input in inputs {
        let place = target(input);
        if let Some(other) = taken.insert(place.clone(), input) {
            return clash(other, input, &place);
        }
    }
    // A file of one input may be where another needs a folder.
    for (place, input) in &taken {
        for folder in place.ancestors().skip(1) {
            if let Some(other) = taken.get(folder) {
                return clash(other, input, folder);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out_of_the_folder() {
        for (path, below) in [
            ("docs/a.txt", "docs/a.txt"),
            ("./docs//b/../a.txt", "docs/a.txt"),
            ("/data/x.jsonl", "data/x.jsonl"),
            ("../../x", "%2E%2E/%2E%2E/x"),
            ("a/../../x", "%2E%2E/x"),
            ("/../x", "%2E%2E/x"),
        ] {
            assert_eq!(mirrored(Path::new(path)), Path::new(below), "{path}");
        }
    }
}
