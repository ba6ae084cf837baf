//! `--write-kept`: the kept documents, byte for byte, in files like those they came from.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use crate::machine;
use crate::place::{Place, row, set, text};

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

pub fn plain(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [0x1f, 0x8b, ..] => {
            let mut plain = Vec::new();
            flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
            plain
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::decode_all(bytes).unwrap(),
        _ => bytes.to_vec(),
    }
}

/// The numbers of the kept records of a file, in order, from the result `out`.
pub fn kept_records(place: &Place, file: &str) -> Vec<u64> {
    let documents = place.documents();
    let state = place.result("out").state().unwrap();
    let of_file = state.iter().filter(|row| row.text("file") == file);
    let mut kept: Vec<u64> =
        of_file.filter(|row| documents[row.text("id")].truth("keep")).map(|row| row.number("record").unwrap() as u64).collect();
    kept.sort_unstable();
    kept
}

/// I5: what was kept is kept again, all of it. How many documents that are.
pub fn scans_clean(place: &Place, folder: &str) -> u64 {
    let summary = place.onefold(["scan", folder, "--out", "second", "--json", "--overwrite"]).run().json();
    let count = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!((count("removed"), count("skipped")), (0, 0), "{summary}");
    count("documents")
}

/// Four rows, the second a copy of the first in capitals.
fn rows() -> [String; 4] {
    [row("a", &text("a", 40)), row("b", &text("a", 40).to_uppercase()), row("c", &text("c", 40)), row("d", &text("d", 40))]
}

#[test]
fn whole_files_keep_their_bytes_times_and_rights() {
    let place = Place::with_documents();
    let name = b"in/deep/\xff%41 x.txt";
    let path = place.write_raw(name, text("odd", 40) + "\r\n\u{feff}");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let summary = place.scan("in --write-kept kept --json").exits(0).json();
    let kept: Vec<String> = place.documents().into_iter().filter(|(_, row)| row.truth("keep")).map(|(id, _)| id).collect();
    assert_eq!(kept.len(), 3);
    let copy = place.at("kept").join(std::path::Path::new(std::ffi::OsStr::from_bytes(name)));
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&path).unwrap());
    let metadata = fs::metadata(&copy).unwrap();
    assert_eq!((metadata.modified().unwrap(), metadata.permissions().mode() & 0o777), (long_ago, 0o640));
    assert_eq!(place.at("kept/in/a.txt").exists(), kept.contains(&"in/a.txt".to_string()));
    assert_ne!(place.at("kept/in/a.txt").exists(), place.at("kept/in/b.txt").exists());
    let files = ["in/a.txt", "in/b.txt", "in/c.txt"].map(|name| place.at(format!("kept/{name}")));
    let bytes: u64 = files.iter().filter_map(|path| Some(path.metadata().ok()?.len())).sum::<u64>() + metadata.len();
    let written = serde_json::json!({ "folder": "kept", "files": 3, "documents": 3, "bytes": bytes });
    assert_eq!(summary["write_kept"], written);
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(place.at("out/run.json")).unwrap()).unwrap();
    assert_eq!(manifest["kept"], written);
    assert_eq!(scans_clean(&place, "kept"), 3);
}

#[test]
fn the_summary_says_where_the_kept_documents_went() {
    let place = Place::with_documents();
    let said = place.scan("in --write-kept deep/kept").exits(0).stdout;
    assert!(said.contains("\n  kept    deep/kept  (documents: 2, files: 2, bytes: "), "{said}");
    assert!(place.at("deep/kept/in/c.txt").exists());
    assert!(!place.scan("in --overwrite").exits(0).stdout.contains("deep/kept"));
}

/// Lines with every kind of end, blank ones, a byte order mark, no line end at the end of the file.
#[test]
fn lines_are_byte_identical_in_every_packing() {
    let [a, b, c, d] = rows();
    let crlf = c.replace('\n', " \r\n");
    let file = format!("\u{feff}{a}\n  \n{b}{crlf}not json\n{}", d.trim_end());
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    for (name, packed) in [
        ("in/x.jsonl", file.as_bytes().to_vec()),
        ("in/x.jsonl.gz", [gzip(&file.as_bytes()[..70]), gzip(&file.as_bytes()[70..])].concat()),
        ("in/x.jsonl.zst", [zstd(&file.as_bytes()[..70]), zstd(&file.as_bytes()[70..])].concat()),
    ] {
        let place = Place::new();
        place.write(name, &packed);
        place.scan("in --write-kept kept").exits(3);
        let kept = kept_records(&place, name);
        assert!(kept.len() == 3 && kept[1..] == [5, 7], "{kept:?}");
        let expected: String = kept.iter().map(|&record| lines[record as usize - 1]).collect();
        let written = fs::read(place.at(format!("kept/{name}"))).unwrap();
        assert_eq!(plain(&written), expected.as_bytes(), "{name}");
        assert!(written[..2] == packed[..2], "{name} is packed as it was");
        assert_eq!(scans_clean(&place, "kept"), 3);
    }
}

#[test]
fn delimited_records_are_byte_identical_in_every_packing() {
    for (ending, comma) in [("csv", ','), ("tsv", '\t')] {
        for end in ["\n", "\r\n", "\r"] {
            let twice = text("a", 40).replace("a7 ", "a7 \"\"quoted\"\",\t\r\n\n ");
            let header = format!("\u{feff}id{comma}\"text\"{comma}n{end}");
            let records = [
                format!("1{comma}\"{twice}\"{comma}0.50{end}"),
                format!("2{comma}\"{}\"{comma}{end}", twice.to_uppercase()),
                format!("3{comma}{}{end}", text("c", 40)),
                format!("\"4\"{comma}{}{comma}x{comma}more{end}", text("d", 40)),
                format!("5{comma}\"{}\"", text("e", 40)),
            ];
            // Blank lines are no records.
            let file = format!("{header}{}{end}{end}{}", records[..2].concat(), records[2..].concat());
            for (suffix, packed) in
                [("", file.as_bytes().to_vec()), (".gz", gzip(file.as_bytes())), (".zst", zstd(file.as_bytes()))]
            {
                let place = Place::new();
                let name = format!("in/x.{ending}{suffix}");
                place.write(&name, &packed);
                place.scan("in --write-kept kept").exits(0);
                let kept = kept_records(&place, &name);
                assert_eq!(kept.len(), 4, "{kept:?}");
                let expected = header.clone() + &kept.iter().map(|&n| records[n as usize - 1].as_str()).collect::<String>();
                let written = fs::read(place.at(format!("kept/{name}"))).unwrap();
                assert_eq!(String::from_utf8(plain(&written)).unwrap(), expected, "{name} {end:?}");
                assert!(written[..2] == packed[..2], "{name} is packed as it was");
                let ids: Vec<String> = place.documents().into_iter().filter(|(_, r)| r.truth("keep")).map(|(id, _)| id).collect();
                scans_clean(&place, "kept");
                let again = place.result("second").documents().unwrap();
                assert_eq!(again.iter().map(|row| row.text("id").to_string()).collect::<Vec<_>>(), ids);
            }
        }
    }
}

/// A real collection: lines whose ids are kept, in their order, and nothing else.
#[test]
fn a_real_collection_keeps_its_lines() {
    let Some(revisions) = machine::shared("revisions_sitepolicy") else { return };
    let place = Place::new();
    let file = fs::read_to_string(revisions.join("docs.jsonl")).unwrap();
    place.write("docs.jsonl", &file);
    place.scan("docs.jsonl --write-kept kept").exits(0);
    let documents = place.documents();
    let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_string();
    let expected: String = file.split_inclusive('\n').filter(|line| documents[&id(line)].truth("keep")).collect();
    assert!(!expected.is_empty() && expected.len() < file.len());
    assert!(fs::read_to_string(place.at("kept/docs.jsonl")).unwrap() == expected);
    scans_clean(&place, "kept");
}

/// What a cut file gave before the cut is copied; the cut is no reason to fail.
#[test]
fn lines_before_a_cut_are_kept() {
    let place = Place::new();
    let whole: String = (0..400).map(|n| row(&format!("r{n}"), &text(&format!("n{n}x"), 30))).collect();
    let packed = gzip(whole.as_bytes());
    place.write("cut.jsonl.gz", &packed[..packed.len() / 2]);
    place.scan("cut.jsonl.gz --write-kept kept").exits(3);
    let kept = kept_records(&place, "cut.jsonl.gz");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let expected: String = kept.iter().map(|&n| lines[n as usize - 1]).collect();
    assert!(kept.len() > 50);
    assert_eq!(plain(&fs::read(place.at("kept/cut.jsonl.gz")).unwrap()), expected.as_bytes());
}

#[test]
fn lines_too_long_to_be_documents_are_passed_over() {
    let place = Place::new();
    let [a, b, c, _] = rows();
    place.write("x.jsonl", format!("{a}{}{b}{c}", row("long", &text("long", 500_000))));
    place.scan("x.jsonl --write-kept kept --max-document-bytes 2000").exits(3);
    let kept = kept_records(&place, "x.jsonl");
    assert_eq!(kept.len(), 2);
    let first = if kept[0] == 1 { a } else { b };
    assert_eq!(fs::read_to_string(place.at("kept/x.jsonl")).unwrap(), first + &c);
}

/// Absolute paths, paths that lead upwards, and a folder inside the input.
#[test]
fn paths_are_mirrored_and_never_lead_out() {
    let place = Place::with_documents();
    place.write("in/c.txt", text("c", 40));
    fs::create_dir(place.at("work")).unwrap();
    let inside = place.onefold(["scan", "../in", "--out", "out", "--write-kept", "kept"]).within(&place.at("work"));
    inside.run().exits(0);
    assert!(place.at("work/kept/%2E%2E/in/c.txt").exists());
    assert_eq!(place.listing(""), place.listing("").into_iter().filter(|name| !name.contains("partial")).collect());
    let absolute = place.at("in/c.txt").display().to_string();
    place.onefold(["scan", &absolute, "--out", "out", "--write-kept", "kept"]).run().exits(0);
    assert!(place.at(format!("kept{absolute}")).exists());
    place.onefold(["scan", "in", "--out", "in/out", "--write-kept", "in/kept"]).run().exits(0);
    assert_eq!(place.listing("in/kept").len(), 3, "two files and a folder");
    assert_eq!(place.result("in/out").documents().unwrap().len(), 3);
}

/// Files of which nothing is kept, and inputs that were skipped, have no copy.
#[test]
fn what_is_not_kept_has_no_file() {
    let place = Place::new();
    place.write("in/a.jsonl", row("a", &text("a", 41)));
    place.write("in/b.jsonl", row("b", &text("a", 40)));
    place.write("in/c.bin", [0_u8, 1, 2, 3, 255, 254, 0, 0]);
    place.write("in/d.jsonl", "not json\n");
    place.scan("in --write-kept kept").exits(3);
    assert_eq!(place.listing("kept"), set(["in", "in/a.jsonl"]));
}

/// Two names of one file are one document, under the smallest path.
#[test]
fn a_file_with_two_names_is_written_once() {
    let place = Place::with_documents();
    fs::hard_link(place.at("in/c.txt"), place.at("in/z.txt")).unwrap();
    place.scan("in --write-kept kept").exits(0);
    assert!(place.at("kept/in/c.txt").exists() && !place.at("kept/in/z.txt").exists());
}

#[test]
fn the_kept_folder_is_the_same_for_any_number_of_threads() {
    let place = Place::new();
    let rows: String = (0..3000).map(|n| row(&format!("r{n}"), &text(&format!("n{}x", n % 2500), 25))).collect();
    place.write("x.jsonl.gz", gzip(rows.as_bytes()));
    place.scan("x.jsonl.gz --write-kept one --threads 1").exits(0);
    place.scan("x.jsonl.gz --write-kept four --threads 4 --overwrite").exits(0);
    assert!(fs::read(place.at("one/x.jsonl.gz")).unwrap() == fs::read(place.at("four/x.jsonl.gz")).unwrap());
    assert_eq!(scans_clean(&place, "one"), 2500);
}
