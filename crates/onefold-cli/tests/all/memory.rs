//! D8, F11, S1, S9: memory is a promise, and the answer does not depend on it.

use std::fs;

use crate::machine::{shared, shell, with_mounts};
use crate::place::{Place, row, set, text};

fn with_collection() -> Option<Place> {
    let place = Place::new();
    let names = ["debdocs_slice", "revisions_sitepolicy", "webis_s3_terabyte"];
    for name in names {
        let rows = fs::read(shared(&format!("{name}/docs.jsonl"))?).unwrap();
        place.write(&format!("in/{name}.jsonl"), rows);
    }
    Some(place)
}

/// The most memory a process took, in bytes: asked again and again until it has ended.
fn peak_of(running: &mut crate::program::Running) -> u64 {
    let status = format!("/proc/{}/status", running.id());
    let mut peak = 0;
    while running.is_running() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0).max(peak);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    peak << 10
}

#[test]
fn d8_the_same_bytes_within_the_bound_for_any_memory() {
    let Some(place) = with_collection() else { return };
    place.onefold(["scan", "in", "--out", "whole", "--threads", "1", "--memory", "4GiB"]).run().exits(0);
    for (memory, megabytes) in [("96MiB", 96), ("128MiB", 128), ("200MiB", 200)] {
        for threads in ["1", "2", "8"] {
            let out = format!("out-{memory}-{threads}");
            let mut running = place.onefold(["scan", "in", "--out", &out, "--threads", threads, "--memory", memory]).open();
            let peak = peak_of(&mut running);
            running.wait().exits(0);
            assert!(place.found(&out) == place.found("whole"), "{memory}, {threads} threads");
            assert!(peak <= (megabytes << 20) * 11 / 10, "{} MiB with {memory} and {threads} threads", peak >> 20);
            assert!(peak > 20 << 20, "not measured: {peak}");
        }
    }
}

#[test]
fn s9_less_than_the_least_is_refused() {
    let place = Place::with_documents();
    place.scan("in --memory 95MiB").exits(2).says(&["E0201", "memory", "≥ 96 MiB"]);
    place.scan("in --memory lots").exits(2).says(&["512MiB"]);
    assert!(!place.at("out").exists());
    place.scan("in --memory 96MiB").exits(0);
}

#[test]
fn s9_a_limit_on_address_space_is_minded() {
    let Some(place) = with_collection() else { return };
    shell(place.path(), "ulimit -v 600000; $ONEFOLD scan in --out out --quiet; exit $?").run().exits(0);
    place.onefold(["scan", "in", "--out", "whole", "--quiet"]).run().exits(0);
    assert!(place.found("out") == place.found("whole"));
}

#[test]
fn f11_few_open_files_are_enough() {
    let Some(place) = with_collection() else { return };
    shell(place.path(), "ulimit -n 24; $ONEFOLD scan in --out out --quiet --memory 96MiB --resume; exit $?").run().exits(0);
}

#[test]
fn s1_a_full_disk_for_the_work_is_exit_5_and_leaves_nothing() {
    let Some(place) = with_collection() else { return };
    fs::create_dir(place.at("mount")).unwrap();
    // Of files the greater part may stay in memory, by what threads happen to have in hand; of a stream all goes to disk (57 MB).
    let full = ["size=1m", "size=8m", "nr_inodes=2", "nr_inodes=3"].map(|options| ("in", options));
    let streamed = full.map(|(_, options)| ("-", options)).into_iter().chain([("-", "size=40m")]);
    for (input, options) in full.into_iter().chain(streamed) {
        let script = format!(
            "mount -t tmpfs -o {options} tmpfs mount; cat in/*.jsonl > all; code=0; \
             $ONEFOLD scan {input} --out out --quiet --memory 96MiB --temp-dir mount < all || code=$?; ls -A mount; exit $code"
        );
        let Some(program) = with_mounts(place.path(), &script) else { return };
        let ran = program.run().exits(5).says(&["E0512", "mount/onefold-", "No space left on device", "--temp-dir"]);
        assert_eq!(ran.stdout, "", "left behind with {options}, {input}");
        assert!(!place.at("out").exists());
    }
}

/// What is too large for the memory there is stops the run, since with more of it the answer would be another.
#[test]
fn an_enormous_document_does_not_break_the_bound() {
    let place = Place::new();
    let long = text("word", 6_000_000);
    assert!(long.len() > 50 << 20);
    place.write("a.jsonl", row("a", &text("a", 40)) + &row("long", &long) + &row("b", &text("b", 40)));
    place.write("in/long.txt", &long);
    for input in ["a.jsonl", "in"] {
        let mut running = place.onefold(["scan", input, "--out", "out", "--memory", "96MiB"]).open();
        let peak = peak_of(&mut running);
        running.wait().exits(8).says(&["E0803", input, "--memory", "--max-document-bytes"]);
        assert!(peak <= (96 << 20) * 11 / 10, "{} MiB", peak >> 20);
        assert!(!place.at("out").exists());
    }
    place.scan("a.jsonl --memory 96MiB --max-document-bytes 1000000").exits(3);
    assert_eq!(place.ids(), set(["a", "b"]));
}

/// Pages on end, in pieces of so many bytes or a page more.
fn pieces(rows: &str, bytes: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for row in rows.lines() {
        let page: serde_json::Value = serde_json::from_str(row).unwrap();
        match pieces.last_mut() {
            Some(piece) if piece.len() < bytes => *piece += page["text"].as_str().unwrap(),
            _ => pieces.push(page["text"].as_str().unwrap().into()),
        }
    }
    pieces
}

/// Sets of a megabyte are looked at again and again, with many others that have words in common with them.
#[test]
fn long_documents_that_overlap_are_found_within_the_bound() {
    let Some(path) = shared("debdocs_slice/docs.jsonl") else { return };
    let place = Place::new();
    let pieces = pieces(&fs::read_to_string(path).unwrap(), 200_000);
    let inside = pieces.iter().enumerate().map(|(n, piece)| row(&format!("piece {n}"), piece));
    let around = pieces.windows(5).enumerate().map(|(n, window)| row(&format!("window {n}"), &window.join("\n")));
    place.write("a.jsonl", inside.chain(around).collect::<String>());
    let scan = |out, memory| {
        let words = ["scan", "a.jsonl", "--out", out, "--memory", memory, "--remove", "contained", "--containment", "1"];
        place.onefold(words)
    };
    scan("out", "4GiB").run().exits(0);
    // Only those in windows that stay: some are near-duplicates of others.
    let removed = place.removed().into_iter().filter(|id| id.starts_with("piece")).count();
    assert!(removed > 80, "{removed} of {}", pieces.len());
    for (memory, megabytes) in [("96MiB", 96), ("112MiB", 112)] {
        let mut running = scan(memory, memory).open();
        let peak = peak_of(&mut running);
        running.wait().exits(0);
        assert!(peak <= (megabytes << 20) * 11 / 10, "{} MiB with {memory}", peak >> 20);
        assert!(place.found(memory) == place.found("out"), "{memory}");
    }
}

/// Words of one letter, or characters that are words: as many tokens as so many bytes can have.
fn dense(bytes: usize, seed: u64, words: &[String]) -> String {
    let mut random = seed + 1;
    let mut text = String::with_capacity(bytes + 8);
    while text.len() < bytes {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&words[(random >> 33) as usize % words.len()]);
    }
    text
}

#[test]
fn documents_of_the_shortest_words_do_not_break_the_bound() {
    let letters: Vec<String> = ('a'..='z').chain('0'..='9').map(|letter| format!("{letter} ")).collect();
    let han: Vec<String> = ('\u{4e00}'..'\u{5000}').map(String::from).collect();
    // Of so many documents some stay in memory, or none.
    for (name, words, count) in [("letters", &letters, 3), ("letters", &letters, 6), ("han", &han, 3)] {
        let place = Place::new();
        let documents: Vec<String> = (0..count).map(|seed| dense(1_800_000, seed, words)).collect();
        let rows = documents
            .iter()
            .enumerate()
            .map(|(n, text)| row(&format!("{n}"), text) + &row(&format!("{n}+"), &format!("{text} end")));
        place.write("a.jsonl", rows.collect::<String>());
        let mut running = place.onefold(["scan", "a.jsonl", "--out", "out", "--memory", "96MiB", "--quiet"]).open();
        let peak = peak_of(&mut running);
        running.wait().exits(0);
        assert!(peak <= (96 << 20) * 11 / 10, "{name}: {} MiB", peak >> 20);
        assert_eq!(place.removed(), (0..count).map(|n| n.to_string()).collect());
        place.write("b.jsonl", row("long", &dense(5_000_000, 9, words)));
        let mut running = place.onefold(["scan", "b.jsonl", "--out", "other", "--memory", "96MiB", "--quiet"]).open();
        let peak = peak_of(&mut running);
        running.wait().exits(8).says(&["E0803", "b.jsonl", "--memory"]);
        assert!(peak <= (96 << 20) * 11 / 10, "{name}: {} MiB", peak >> 20);
    }
}

/// What looks like many words is not refused before the words are known.
#[test]
fn long_words_and_bytes_that_are_no_text_are_no_burden() {
    let place = Place::new();
    place.write("in/russian.txt", "предложение за предложением ".repeat(55_000));
    place.write("in/picture.jpg", (0..3_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<u8>>());
    place.write("in/a.txt", text("a", 40));
    let mut running = place.onefold(["scan", "in", "--out", "out", "--memory", "96MiB", "--quiet"]).open();
    let peak = peak_of(&mut running);
    running.wait().exits(3);
    assert!(peak <= (96 << 20) * 11 / 10, "{} MiB", peak >> 20);
    assert_eq!(place.ids(), set(["in/a.txt", "in/russian.txt"]));
}

/// Whatever holds the document: it is not read to its end.
#[test]
fn an_enormous_record_does_not_break_the_bound() {
    let place = Place::new();
    let long = text("word", 6_000_000);
    place.write("a.csv", format!("id,text\n1,short\n2,\"{long}\"\n"));
    let heading = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://example.org/\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n\
                   WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\nContent-Type: text/plain\r\n";
    place.write("a.warc", format!("{heading}Content-Length: {}\r\n\r\n{long}\r\n\r\n", long.len()));
    for input in ["a.csv", "a.warc"] {
        let mut running = place.onefold(["scan", input, "--out", "out", "--memory", "96MiB", "--quiet"]).open();
        let peak = peak_of(&mut running);
        running.wait().exits(8).says(&["E0803", input, "--memory"]);
        assert!(peak <= (96 << 20) * 11 / 10, "{input}: {} MiB", peak >> 20);
    }
}

#[test]
fn more_documents_than_memory_are_refused_by_name() {
    let place = Place::new();
    let rows: String = (0..260_000).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{n}\"}}\n")).collect();
    place.write("a.jsonl", rows);
    let mut running = place.onefold(["scan", "a.jsonl", "--out", "out", "--memory", "96MiB", "--quiet"]).open();
    let peak = peak_of(&mut running);
    running.wait().exits(8).says(&["E0803", "documents", "--memory"]);
    assert!(peak <= (96 << 20) * 11 / 10, "{} MiB", peak >> 20);
    assert!(!place.at("out").exists());
}
