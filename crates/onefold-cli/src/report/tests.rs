//! I12: whatever documents hold, a page parses to the allowed elements and to the texts that went in. And one result has one
//! page, whichever way it comes.

use std::collections::{BTreeMap, HashMap};

use html5gum::{DefaultEmitter, Token, Tokenizer};
use onefold::{ClusterMode, Counts, Discard, Document, Exec, Format, Input, Plan, ResultFolder, SavedResult, Warning, run};
use proptest::prelude::*;

use super::*;

const ELEMENTS: &str = "a article bdi body br caption circle code dd del desc details div dl dt em figcaption figure footer g h1 h2 h3 h4 \
    head header html ins li line main meta nav ol p polyline rect section span style summary svg table tbody td text th thead title tr ul";
const ATTRIBUTES: &str = "aria-describedby aria-hidden aria-label aria-labelledby charset class content cx cy dir height href \
    http-equiv id lang name open points preserveaspectratio r role rx scope tabindex text-anchor viewbox width x x1 x2 y y1 y2";
const VOID: [&str; 3] = ["br", "meta", "wbr"];

/// What a parser makes of a page.
#[derive(Default)]
struct Parsed {
    /// The texts of the elements with class `text`, in order.
    excerpts: Vec<String>,
    /// All text.
    text: String,
}

/// Parses a page and panics where it holds anything that the kit does not make.
fn parse(page: &str) -> Parsed {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let (mut parsed, mut open, mut excerpt) = (Parsed::default(), Vec::<String>::new(), None);
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                assert!(ELEMENTS.split_whitespace().any(|known| known == name), "element {name}");
                for (attribute, value) in &tag.attributes {
                    check_attribute(&String::from_utf8_lossy(attribute), &String::from_utf8_lossy(&value.value));
                }
                if tag.attributes.get(&b"class"[..]).is_some_and(|class| &class.value[..] == b"text") {
                    excerpt = Some(open.len());
                    parsed.excerpts.push(String::new());
                }
                if !VOID.contains(&name.as_str()) {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                assert_eq!(open.pop().map(String::into_bytes), Some(tag.name.to_vec()), "elements nest");
                excerpt = excerpt.filter(|depth| open.len() > *depth);
            }
            Token::String(text) => {
                let text = std::str::from_utf8(&text).unwrap();
                parsed.text.push_str(text);
                if let (Some(_), Some(last)) = (excerpt, parsed.excerpts.last_mut()) {
                    last.push_str(text);
                }
            }
            Token::Doctype(doctype) => assert_eq!(&doctype.name[..], b"html"),
            Token::Comment(comment) => panic!("comment {comment:?}"),
            Token::Error(error) => panic!("parse error {error:?}"),
        }
    }
    assert!(open.is_empty(), "{open:?} never ends");
    parsed
}

fn check_attribute(name: &str, value: &str) {
    assert!(ATTRIBUTES.split_whitespace().any(|known| known == name), "attribute {name}");
    assert!(name != "href" || value.starts_with('#'), "a link that leaves the page: {value}");
    assert!(!value.contains(['\0', '\n', '\r', '\u{1b}', '\u{202e}']), "{name}={value:?}");
}

/// What a reader should see of a text, written once more without the code under test.
fn seen(text: &str) -> String {
    let mut seen = String::new();
    for c in text.replace("\r\n", "\n").chars() {
        match u32::from(c) {
            9 | 10 => seen.push(c),
            code @ 0..=31 => seen.push(char::from_u32(0x2400 + code).unwrap()),
            127 => seen.push('␡'),
            code @ (0x80..=0x9f | 0x61c | 0x200e | 0x200f | 0x2028..=0x202e | 0x2066..=0x2069 | 0xfeff | 0xe0000..=0xe007f) => {
                seen.push_str(&format!("⟨U+{code:04X}⟩"));
            }
            code if code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code) => seen.push_str(&format!("⟨U+{code:04X}⟩")),
            _ => seen.push(c),
        }
    }
    seen
}

const HOSTILE: [&str; 30] = [
    "</script><img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</style><style>*{display:none}",
    "</title><b>",
    "]]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "--!>",
    "&amp;",
    "&lt;b&gt;",
    "&#0;",
    "&#x202e;",
    "&notit;",
    "\" onmouseover=\"alert(1)",
    "' style='x",
    "</div></details></main>",
    "<ins>",
    "</del>",
    "\u{202e}gnp.exe",
    "\u{2066}a\u{2069}",
    "\0",
    "\u{1b}[31m",
    "\u{85}",
    "\r\n",
    "\r",
    "javascript:alert(1)",
    "<svg/onload=alert(1)>",
    "</svg><math>",
    "<?php",
];

/// Words, markup, controls and any character at all, in any order.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        3 => prop::sample::select(&HOSTILE[..]).prop_map(String::from),
        2 => "[a-z]{1,8}",
        1 => Just("\n".to_string()),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..16).prop_map(|parts| parts.join(" "))
}

/// A report in which every value that can come from outside is the given one.
fn report(values: &[String], exact: bool) -> Report {
    let value = |at: usize| values[at % values.len()].as_str();
    let plan = Plan { protect: vec![value(0).into()], ..Plan::default() };
    let facts = Facts {
        version: value(1).into(),
        command: vec![value(2).into(), value(3).into()],
        inputs: vec![value(4).into()],
        plan,
        counts: Counts { documents: 2, kept: 1, removed: 1, near: 1, clusters: 1, ..Counts::default() },
        warnings: vec![Warning { code: value(5).into(), message: value(6).into() }],
        timings: vec![(value(7).into(), 1.0)],
        documents_file: value(8).into(),
        plan_digest: value(9).into(),
    };
    let (kept, removed) = (format!("kept {}", value(10)), format!("removed {}", value(11)));
    let row = |id, keep| DocumentRow {
        id,
        source: if keep { value(0) } else { value(1) },
        kind: if keep { value(2) } else { value(3) },
        host: Some(if keep { value(4) } else { value(5) }),
        cluster_id: &kept,
        cluster_size: 2,
        representative_id: &kept,
        similarity: if exact || keep { 1.0 } else { 0.85 },
        relation: Some(if exact { "exact" } else { "near" }),
        keep,
        keep_reason: value(6),
        flags: value(7),
    };
    let mut collector = Collector::new(facts);
    [row(&kept, true), row(&removed, false)].iter().for_each(|row| collector.document(row));
    collector.pair(0.85, true);
    for kind in ["skipped", "flagged"] {
        collector.skip(&Skip { kind, stage: value(8), reason: value(9), input: value(10), detail: value(11) });
    }
    let mut gathering = collector.choose();
    [row(&removed, false), row(&kept, true)].iter().for_each(|row| gathering.document(row));
    gathering.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn i12_texts_round_trip_and_only_known_elements_exist(values in prop::collection::vec(hostile(), 12), kept in hostile(), removed in hostile()) {
        let report = report(&values, false);
        let ids = report.wanted_texts();
        prop_assert_eq!(ids.len(), 2);
        let texts = HashMap::from([(ids[0].clone(), kept.clone()), (ids[1].clone(), removed.clone())]);
        let parsed = parse(&report.render(&texts));
        prop_assert_eq!(parsed.excerpts, [seen(&kept), seen(&removed)]);
    }
}

#[test]
fn every_payload_is_text_in_every_place() {
    for payload in HOSTILE {
        let values = vec![payload.to_string()];
        for exact in [false, true] {
            let report = report(&values, exact);
            let texts: HashMap<String, String> = report.wanted_texts().into_iter().map(|id| (id, payload.into())).collect();
            let parsed = parse(&report.render(&texts));
            let expected = vec![seen(payload); if exact { 1 } else { 2 }];
            assert_eq!(parsed.excerpts, expected, "{payload}");
        }
    }
}

#[test]
fn missing_texts_and_long_names_are_said_to_be() {
    let values = vec!["<x>".repeat(5000)];
    let report = report(&values, false);
    let parsed = parse(&report.render(&HashMap::new()));
    assert!(parsed.text.contains("Text not at hand"));
    assert!(parsed.text.contains('…') && parsed.text.len() < 60_000, "{}", parsed.text.len());
}

#[test]
fn a_page_stays_small_whatever_the_texts_are() {
    let documents = 600u32;
    let text = |d: u32| format!("{d} {}", "\u{202e}".repeat(3000));
    let mut collector = Collector::new(Facts::default());
    let row = |d: u32, id: &str, cluster: &str, each: &mut dyn FnMut(&DocumentRow<'_>)| {
        let keep = id == cluster;
        let similarity = if keep { 1.0 } else { 0.8 + f64::from(d) / 10_000.0 };
        let (source, kind, host, relation) = ("s", "txt", None, Some("near"));
        let (cluster_id, cluster_size, representative_id) = (cluster, 4, cluster);
        each(&DocumentRow {
            id,
            source,
            kind,
            host,
            cluster_id,
            cluster_size,
            representative_id,
            similarity,
            relation,
            keep,
            keep_reason: "",
            flags: "",
        });
    };
    let feed = |each: &mut dyn FnMut(&DocumentRow<'_>)| {
        (0..documents).for_each(|d| row(d, &format!("{d:04}"), &format!("{:04}", d / 4 * 4), each));
    };
    feed(&mut |row| collector.document(row));
    let mut gathering = collector.choose();
    feed(&mut |row| gathering.document(row));
    let report = gathering.finish();
    let texts = report.wanted_texts().into_iter().map(|id| (id.clone(), text(id.parse().unwrap()))).collect();
    let page = report.render(&texts);
    parse(&page);
    assert!(page.len() < 2_000_000 && page.contains("Text left out"), "{}", page.len());
}

/// A collection of every kind of input, in a folder.
fn collection() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let story = |end: &str| (0..120).map(|n| format!("word{n} of the story")).collect::<Vec<_>>().join(" ") + end;
    let write = |name: &str, content: &[u8]| std::fs::write(folder.path().join(name), content).unwrap();
    write("a.txt", story("").as_bytes());
    write("b.txt", story(" and one more end").as_bytes());
    write("c.md", story("").to_uppercase().as_bytes());
    write("d.html", format!("<html><body><p>{}</p>", story(" <b>&lt;bold&gt;</b> end")).as_bytes());
    write("half.txt", story("").replace("word1", "other").as_bytes());
    write("empty.txt", b"");
    write("lossy.txt", b"these words \xff\xfe\xfd are not UTF-8 at all \x81\x8d");
    let rows = [
        format!("{{\"id\":\"r1\",\"text\":\"{}\",\"url\":\"https://a.example/x\"}}", story(" in a row")),
        format!(
            "{{\"id\":\"r2.html\",\"text\":\"{}\",\"url\":\"https://b.example/x\",\"source\":\"other\"}}",
            story(" in another row")
        ),
        "{\"id\":\"r3\",\"text\":".into(),
        "{\"id\":\"r1\",\"text\":\"an id that is taken already by another row\"}".into(),
    ];
    write("rows.jsonl", rows.join("\n").as_bytes());
    folder
}

#[test]
fn a_run_and_its_folder_have_the_same_page() {
    let collection = collection();
    let input = collection.path().display().to_string();
    for (format, cluster) in [
        (Format::Parquet, ClusterMode::Conservative),
        (Format::Jsonl, ClusterMode::Transitive),
        (Format::Csv, ClusterMode::Conservative),
    ] {
        let out = tempfile::tempdir().unwrap();
        let mut folder = ResultFolder::new(out.path().join("result"));
        folder.format = format;
        folder.command = vec!["onefold".into(), "scan".into(), input.clone()];
        folder.inputs = vec![input.clone()];
        let plan = Plan { cluster, floor: "0.3".parse().ok(), ..Plan::default() };
        let outcome = run(&plan, &Exec::default(), vec![Input::Path(input.clone().into())], &mut folder).unwrap();
        let notes = RunNotes { command: folder.command.clone(), inputs: folder.inputs.clone(), timings: BTreeMap::new(), format };
        let of_run = from_outcome(&outcome, &notes).unwrap().page();
        let saved = SavedResult::open(&folder.path).unwrap();
        let of_folder = from_saved(&saved).unwrap().page();
        assert_eq!(of_run, of_folder, "{format:?}");
        let parsed = parse(&of_run);
        assert!(parsed.excerpts.len() >= 4, "{}", parsed.excerpts.len());
        assert!(!parsed.text.contains("Text not at hand"));
        for part in ["a.example", "jsonl record", "no text", "renamed", "threshold 0.8", "below the threshold"] {
            assert!(parsed.text.contains(part), "{part}");
        }
    }
}

#[test]
fn documents_in_memory_have_a_page_without_texts() {
    let document =
        |id: &str| Document { id: Some(id.into()), text: "the same few words again and again".into(), ..Document::default() };
    let inputs = vec![Input::Documents(vec![document("a"), document("b")])];
    let outcome = run(&Plan::default(), &Exec::default(), inputs, &mut Discard).unwrap();
    let parsed = parse(&from_outcome(&outcome, &RunNotes::default()).unwrap().page());
    assert!(parsed.text.contains("1 of 2 documents repeats another") && parsed.text.contains("Text not at hand"));
    assert!(parsed.text.contains("Every removable document equals the one kept for it."));
}

#[test]
fn a_collection_without_duplicates_has_a_page_too() {
    let document = |id: &str, text: &str| Document { id: Some(id.into()), text: text.into(), ..Document::default() };
    let documents = vec![document("a", "one two three four five six"), document("b", "seven eight nine ten eleven twelve")];
    let outcome = run(&Plan::default(), &Exec::default(), vec![Input::Documents(documents)], &mut Discard).unwrap();
    let parsed = parse(&from_outcome(&outcome, &RunNotes::default()).unwrap().page());
    assert!(parsed.text.contains("None of 2 documents repeats another"));
}

/// The document that a browser makes of a file; `None`, said aloud, where there is no browser.
fn browse(page: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).unwrap();
    let flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --dump-dom";
    let out = std::process::Command::new("chromium")
        .args(flags.split_whitespace())
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output();
    match out {
        Ok(out) if out.status.success() => Some(String::from_utf8(out.stdout).unwrap()),
        failed if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("chromium: {failed:?}"),
        _ => {
            eprintln!("SKIPPED: there is no chromium that runs");
            None
        }
    }
}

#[test]
fn a_browser_reads_what_the_tokenizer_reads() {
    let text = HOSTILE.join(" word ");
    let report = report(&HOSTILE.map(String::from), false);
    let texts = report.wanted_texts().into_iter().map(|id| (id, text.clone())).collect();
    let page = report.render(&texts);
    if let Some(document) = browse(&page) {
        let (ours, theirs) = (parse(&page), parse(&document));
        assert_eq!(theirs.excerpts, [seen(&text), seen(&text)]);
        assert_eq!(theirs.excerpts, ours.excerpts);
        assert_eq!(theirs.text.split_whitespace().collect::<Vec<_>>(), ours.text.split_whitespace().collect::<Vec<_>>());
    }
}
