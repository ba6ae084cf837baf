//! Folders, files and standard input, alone and together.

use crate::place::{Place, row, set, text};

#[test]
fn rows_inside_a_folder_stand_beside_documents() {
    let place = Place::with_documents();
    place.write("in/deep/rows.jsonl", row("r1", &text("a", 40)) + &row("r2", &text("r", 40)));
    place.write("in/more.NDJSON", row("r3", &text("s", 40)));
    place.scan("in").exits(0);
    assert_eq!(place.ids(), set(["in/a.txt", "in/b.txt", "in/c.txt", "r1", "r2", "r3"]));
    assert_eq!(place.removed().len(), 2, "a.txt, b.txt and r1 are one text");
    assert!(place.documents().values().all(|row| row.text("source") == "in"), "the folder argument is the source");
}

#[test]
fn standard_input_is_read_as_rows() {
    let place = Place::new();
    let rows = format!("{}{{\"text\":\"{}\"}}\n", row("a", &text("a", 40)), text("b", 40));
    place.onefold(["scan", "-", "--out", "out"]).input(rows).run().exits(0);
    assert_eq!(place.ids(), set(["a", "-#2"]));
    assert!(place.documents().values().all(|row| row.text("source") == "-"));
}

#[test]
fn standard_input_may_be_compressed_and_come_with_others() {
    let place = Place::with_documents();
    place.write("rows.jsonl", row("r", &text("r", 40)));
    let packed = zstd::encode_all(row("z", &text("c", 40)).as_bytes(), 1).unwrap();
    place.onefold(["scan", "rows.jsonl", "-", "in", "--out", "out"]).input(packed).run().exits(0);
    assert_eq!(place.ids(), set(["in/a.txt", "in/b.txt", "in/c.txt", "r", "z"]));
    assert_eq!(place.removed().len(), 2, "the row on standard input is a copy of c.txt");
    let sources: Vec<String> = place.documents().values().map(|row| row.text("source").into()).collect();
    assert_eq!(set(sources), set(["-", "in", "rows.jsonl"]));
}

#[test]
fn standard_input_twice_and_empty() {
    let place = Place::new();
    place.onefold(["scan", "-", "-", "--out", "out"]).input("").run().exits(2).says(&["'-' is given twice"]);
    place.onefold(["scan", "-", "--out", "out"]).input("").run().exits(4).says(&["no document"]);
    assert!(!place.at("out").exists());
}

#[test]
fn a_file_that_is_named_is_looked_into() {
    let place = Place::new();
    place.write("rows.txt", row("r", &text("a", 40)));
    place.write("object.json", "{\n  \"name\": \"a package, not rows\"\n}\n");
    place.write("page.html", format!("<!DOCTYPE html><title>t</title><script>x</script><p>{}</p>", text("h", 40)));
    place.write("copy.txt", text("h", 40));
    place.scan("rows.txt object.json page.html copy.txt").exits(0);
    assert_eq!(place.ids(), set(["r", "object.json", "page.html", "copy.txt"]));
    assert_eq!(place.removed().len(), 1, "a page and its text: {:?}", place.removed());
}

#[test]
fn ids_are_cleaned_lexically() {
    let place = Place::with_documents();
    place.scan("./in/../in//").exits(0);
    assert_eq!(place.ids(), set(["in/a.txt", "in/b.txt", "in/c.txt"]));
}

/// 1,500 files in many folders: more than a worker's share, each once.
#[test]
fn many_files_are_each_read_once() {
    let place = Place::new();
    for n in 0..1500 {
        place.write(&format!("in/{}/{n}", n % 37), text(&format!("n{}x", n % 1400), 20));
    }
    let summary = place.scan("in --threads 4 --json").exits(0).json();
    assert_eq!((&summary["documents"], &summary["removed"]), (&1500.into(), &100.into()));
}
