//! A row of the documents table as the report takes it, and what names and addresses tell.

use std::borrow::Cow;

/// One document and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub struct DocumentRow<'a> {
    /// Unique in the result.
    pub id: &'a str,
    /// The collection it belongs to.
    pub source: &'a str,
    /// What kind of document it is, by [`type_of`].
    pub kind: &'a str,
    /// The host of its address, by [`host_of`].
    pub host: Option<&'a str>,
    /// The cluster's name.
    pub cluster_id: &'a str,
    /// Documents in the cluster.
    pub cluster_size: u64,
    /// The document kept for it.
    pub representative_id: &'a str,
    /// With the representative.
    pub similarity: f64,
    /// `exact` or `near`; none where the cluster has one document.
    pub relation: Option<&'a str>,
    /// Whether it stays.
    pub keep: bool,
    /// Why.
    pub keep_reason: &'a str,
    /// Remarks, with commas between.
    pub flags: &'a str,
}

/// Endings that say something about a record of a larger file; an id such as `example.com` must not become a type.
const KNOWN: [&str; 32] = [
    "txt", "text", "md", "markdown", "rst", "adoc", "tex", "html", "htm", "xhtml", "xml", "json", "csv", "tsv", "pdf", "doc",
    "docx", "odt", "rtf", "epub", "eml", "msg", "mbox", "ppt", "pptx", "odp", "xls", "xlsx", "py", "rs", "c", "java",
];

/// What kind of document it is, by the ending of its name: the file's for a whole file, the id's (if it has one that is
/// known) for a record of a larger file.
pub fn type_of(id: &str, file: &str, record: u64) -> Cow<'static, str> {
    let known = |ending: &str| KNOWN.into_iter().find(|known| ending.eq_ignore_ascii_case(known));
    let kind = match record {
        0 => ending(file).map(|ending| known(ending).map_or_else(|| ending.to_ascii_lowercase().into(), Cow::Borrowed)),
        _ => ending(id).and_then(known).map(Cow::Borrowed),
    };
    let of_file = || ending(file).map(|ending| format!("{} record", ending.to_ascii_lowercase()).into());
    kind.or_else(|| if record == 0 { None } else { of_file() }).unwrap_or("without an ending".into())
}

fn ending(name: &str) -> Option<&str> {
    let last = name.bytes().rposition(|byte| matches!(byte, b'/' | b'\\')).map_or(name, |at| &name[at + 1..]);
    let last = last.bytes().position(|byte| matches!(byte, b'?' | b'#')).map_or(last, |at| &last[..at]);
    let last = last.strip_suffix(".gz").or_else(|| last.strip_suffix(".zst")).unwrap_or(last);
    let (stem, ending) = last.rsplit_once('.')?;
    let plausible = (1..=8).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    (plausible && !stem.is_empty()).then_some(ending)
}

/// The host of an address, in small letters, without user and port.
pub fn host_of(url: &str) -> Option<String> {
    // An address begins with its scheme, so this ends soon.
    let rest = &url[url.as_bytes().windows(3).position(|three| three == b"://")? + 3..];
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = if host.starts_with('[') { host.split_inclusive(']').next()? } else { host.split(':').next()? };
    let host = host.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_from_endings() {
        let types = [
            type_of("in/a.HTML", "in/a.HTML", 0),
            type_of("in/a.txt.gz", "in/a.txt.gz", 0),
            type_of("in/README", "in/README", 0),
            type_of("in/.profile", "in/.profile", 0),
            type_of("ja/apf.html", "docs.jsonl", 7),
            type_of("example.com", "docs.jsonl.zst", 7),
            type_of("12", "-", 7),
        ];
        let none = "without an ending";
        assert_eq!(types, ["html", "txt", none, none, "html", "jsonl record", none]);
    }

    #[test]
    fn hosts_come_from_addresses() {
        let hosts =
            ["https://User@WWW.Example.org:80/a?b", "http://[::1]:8/x", "ftp://h.", "mailto:x", "https:///x"].map(host_of);
        let expected = [Some("www.example.org"), Some("[::1]"), Some("h"), None, None];
        assert_eq!(hosts.each_ref().map(Option::as_deref), expected);
    }
}
