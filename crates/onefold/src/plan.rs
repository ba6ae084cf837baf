//! The plan: everything that can change the answer. Defaults live here and nowhere else.

use serde::{Deserialize, Serialize};

use crate::cluster::{ClusterMode, Members};
use crate::error::{Error, Result};
use crate::fingerprint::{Aim, Built, Guarantee, Method};
use crate::join::Sameness;
use crate::normalize::{Filtering, Language, Numbers, TextRules};
use crate::rank::KeepRules;
use crate::shingle::hash::FINGERPRINT_VERSION;
use crate::shingle::{Hash, Recipe, Unit};
use crate::threshold::{Threshold, Tolerance};
use crate::verify::{Containment, Measure};

/// Everything that can change the answer. How it is computed (threads, progress) is [`crate::Exec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// Resemblance from which two documents are near-duplicates; higher finds fewer.
    pub threshold: Threshold,
    /// Pairs below the threshold are listed, as rejected, down to this resemblance; none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Threshold>,
    /// What makes two documents belong together.
    pub relation: Relate,
    /// With `relation = "containment"`: the share of a document's shingles that another must have.
    pub containment: Threshold,
    /// A document with fewer shingles than this is too short to lie inside another, or to hold one.
    pub min_contained: u32,
    /// What is removed.
    pub remove: Remove,
    /// How text is cut into words.
    pub text: TextRules,
    /// What becomes of numbers.
    pub numbers: Numbers,
    /// Frequent words of this language are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_words: Option<Language>,
    /// Words lose the endings of this language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stem: Option<Language>,
    /// Words of which ln(N/n) is below this are left out, where n of the N documents have them; higher leaves out more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_idf: Option<f64>,
    /// What shingles are made of.
    pub shingle: Unit,
    /// Words (or characters, lines) in a shingle; longer ones find fewer and surer duplicates.
    pub ngram_size: u32,
    /// How shingles are hashed.
    pub hash: Hash,
    /// Which document of a cluster is kept, first rule first.
    pub keep: KeepRules,
    /// Documents whose id or source matches one of these globs are never removed.
    pub protect: Vec<String>,
    /// What `cluster_id` describes.
    pub cluster: ClusterMode,
    /// Which of the representatives that it is near a document joins.
    pub members: Members,
    /// Which verified pairs are listed.
    pub pairs: PairsMode,
    /// Most pairs that `pairs = "all"` lists; without it the larger of 10 million and 200 × documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pairs: Option<u64>,
    /// Whether symbolic links inside folders are followed.
    pub follow: bool,
    /// A file or JSONL row larger than this is skipped, with the reason `too_large`.
    pub max_document_bytes: u64,
    /// Where a JSONL row has its parts.
    pub columns: Columns,
    /// Shingles that more documents than this have are left out of sketches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common_shingles: Option<u32>,
    /// What makes a candidate a pair.
    pub verify: Verify,
    /// With `verify = "edit"`: the share of the longer document's words that may have to be edited; higher finds more.
    pub max_edit: Tolerance,
    /// The published work whose settings these are, as far as they were not changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// How candidate pairs are found.
    pub method: Method,
}

/// What makes a candidate a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// Its resemblance, measured on all shingles, reaches the threshold.
    Exact,
    /// Few of its words have to be edited to turn one document into the other. The resemblance decides only what is proposed.
    Edit,
    /// The method's word. The resemblance is still measured, for the tables, but decides nothing.
    None,
}

impl Verify {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Verify::Exact => "exact",
            Verify::Edit => "edit",
            Verify::None => "none",
        }
    }
}

/// Names of the fields of a JSONL row; `meta.url` is the field `url` inside `meta`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Columns {
    /// The text. A row without it is skipped.
    pub text: String,
    /// The id. A row without it is called `file#line`.
    pub id: String,
    /// The address the document came from.
    pub url: String,
    /// A time: ISO 8601, or seconds since 1970.
    pub time: String,
    /// A number that says how good the document is; higher is better.
    pub score: String,
    /// The collection the document belongs to.
    pub source: String,
}

/// What makes two documents belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relate {
    /// They say the same.
    Resemblance,
    /// They say the same, or one lies inside the other.
    Containment,
}

/// What is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remove {
    /// Documents that resemble the one kept for them.
    Duplicates,
    /// Also documents that lie inside the one kept for them.
    Contained,
}

/// Which verified pairs are listed. Clusters and survivors are the same in both modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairsMode {
    /// Every pair that reaches the threshold.
    All,
    /// Each removed document with its representative; templates with N² true pairs stay linear.
    Star,
}

impl Default for Columns {
    fn default() -> Self {
        let [text, id, url, time, score, source] = ["text", "id", "url", "time", "score", "source"].map(String::from);
        Columns { text, id, url, time, score, source }
    }
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            threshold: Threshold::EIGHT_TENTHS,
            floor: None,
            relation: Relate::Resemblance,
            containment: Threshold::NINE_TENTHS,
            min_contained: 20,
            remove: Remove::Duplicates,
            text: TextRules::Words,
            numbers: Numbers::Keep,
            stop_words: None,
            stem: None,
            min_idf: None,
            shingle: Unit::Words,
            ngram_size: 5,
            hash: Hash::Fast,
            keep: KeepRules::default(),
            protect: Vec::new(),
            cluster: ClusterMode::Conservative,
            members: Members::Closest,
            pairs: PairsMode::All,
            max_pairs: None,
            follow: false,
            max_document_bytes: 256 << 20,
            columns: Columns::default(),
            common_shingles: None,
            verify: Verify::Exact,
            max_edit: Tolerance::THREE_TENTHS,
            preset: None,
            method: Method::Exact,
        }
    }
}

impl Plan {
    /// Checks what the types cannot: ranges, and settings that contradict each other.
    pub fn validate(&self) -> Result<()> {
        if !(1..=1000).contains(&self.ngram_size) {
            return Err(Error::setting("ngram-size", "from 1 to 1000", self.ngram_size.to_string()));
        }
        if self.floor.is_some_and(|floor| floor > self.threshold) {
            let allowed = format!("at most the threshold ({})", self.threshold);
            return Err(Error::setting("floor", allowed, self.join_threshold().to_string()));
        }
        if self.floor.is_some() && self.pairs == PairsMode::Star {
            return Err(Error::setting("pairs", "'all' where a floor is given", "star"));
        }
        if self.relation == Relate::Containment && self.pairs == PairsMode::Star {
            return Err(Error::setting("pairs", "'all' where containment is asked for", "star"));
        }
        if self.remove == Remove::Contained && self.relation != Relate::Containment {
            return Err(Error::setting("remove", "'duplicates' where containment is not asked for", "contained"));
        }
        if self.min_contained == 0 {
            return Err(Error::setting("min-contained", "at least 1", "0"));
        }
        if self.max_document_bytes == 0 {
            return Err(Error::setting("max-document-bytes", "at least 1", "0"));
        }
        if self.columns.text.is_empty() {
            return Err(Error::setting("text-column", "the name of a field", ""));
        }
        self.filtering().validate()?;
        self.validate_method()?;
        crate::rank::Protected::compile(&self.protect)?;
        self.build_method().map(|_| ())
    }

    fn validate_method(&self) -> Result<()> {
        if let Some(most @ ..=1) = self.common_shingles {
            return Err(Error::setting("common-shingles", "at least 2", most.to_string()));
        }
        if let Some(name) = &self.preset {
            crate::presets::preset(name)?;
        }
        if self.common_shingles.is_some() && self.method == Method::Exact {
            return Err(Error::setting("common-shingles", "left away with the exact method, which needs no such limit", "given"));
        }
        self.validate_verification()
    }

    fn validate_verification(&self) -> Result<()> {
        let given = self.verify.name();
        if self.verify == Verify::None && self.method == Method::Exact {
            return Err(Error::setting("verify", "'exact' or 'edit' with the exact method", given));
        }
        if self.verify != Verify::Exact && self.floor.is_some() {
            return Err(Error::setting("verify", "'exact' where a floor is given", given));
        }
        if self.verify != Verify::Exact && self.relation == Relate::Containment {
            return Err(Error::setting("verify", "'exact' where containment is asked for", given));
        }
        Ok(())
    }

    /// What the method promises for pairs at the threshold with `union` shingles in either.
    pub fn guarantee(&self, union: u32) -> Result<Guarantee> {
        let method = self.build_method()?;
        let recall = method.as_dyn().recall(self.join_threshold().as_f64(), union);
        Ok(match (recall, method.as_dyn().promise()) {
            _ if method.as_dyn().finds_all() => Guarantee::Exact,
            (_, Some(promise)) => Guarantee::Other(promise),
            (Some(recall), None) => Guarantee::Probabilistic { miss_rate: 1.0 - recall },
            (None, None) => Guarantee::Other(String::new()),
        })
    }

    /// The probability that the method proposes a pair of this resemblance (for SimHash: of this cosine), where it is known.
    pub fn recall(&self, similarity: f64, union: u32) -> Result<Option<f64>> {
        Ok(self.build_method()?.as_dyn().recall(similarity, union))
    }

    /// What documents are compared by.
    pub fn recipe(&self) -> Recipe {
        Recipe { text: self.text, filtering: self.filtering(), unit: self.shingle, size: self.ngram_size, hash: self.hash }
    }

    /// Which words are left out or replaced.
    pub(crate) fn filtering(&self) -> Filtering {
        Filtering { numbers: self.numbers, stop_words: self.stop_words, stem: self.stem, min_idf: self.min_idf }
    }

    /// Whether shingle sets are looked at in the order of their sizes only, with those that are a little smaller beside them.
    pub(crate) fn looks_at_sets_in_order(&self) -> bool {
        let by_shingles = self.method == Method::Exact && self.edit_limit().is_none();
        by_shingles && self.pairs == PairsMode::All && self.relation != Relate::Containment
    }

    /// The method, with its numbers worked out.
    pub(crate) fn build_method(&self) -> Result<Built> {
        self.method.build(Aim { threshold: self.join_threshold(), verified: self.verify != Verify::None })
    }

    /// The resemblance down to which pairs are looked for.
    pub fn join_threshold(&self) -> Threshold {
        self.floor.unwrap_or(self.threshold)
    }

    /// The resemblance that candidates have to reach. Edit distances decide on top of what the exact method finds, and on whatever
    /// other methods propose.
    pub(crate) fn reach(&self) -> Option<Threshold> {
        let reaches = match self.verify {
            Verify::Exact => true,
            Verify::Edit => self.method == Method::Exact,
            Verify::None => false,
        };
        reaches.then(|| self.join_threshold())
    }

    /// How far apart candidates may be by their words, where that decides.
    pub(crate) fn edit_limit(&self) -> Option<Tolerance> {
        (self.verify == Verify::Edit).then_some(self.max_edit)
    }

    /// What makes documents one before any are compared.
    pub(crate) fn sameness(&self) -> Sameness {
        if self.verify == Verify::Edit { Sameness::Words } else { Sameness::Shingles }
    }

    /// What decides whether two documents belong together.
    pub(crate) fn measure(&self) -> Measure {
        let containment = Containment { least: self.containment, min_size: self.min_contained };
        Measure {
            threshold: self.threshold,
            containment: (self.relation == Relate::Containment).then_some(containment),
            decides: self.verify == Verify::Exact,
        }
    }

    /// The most pairs to be listed for a collection of this size.
    pub fn pair_limit(&self, documents: usize) -> u64 {
        self.max_pairs.unwrap_or_else(|| 10_000_000.max(200 * documents as u64))
    }

    /// A digest of every setting and of the frozen hash; artefacts of different plans never mix.
    pub fn digest(&self) -> Result<String> {
        let settings = serde_json::to_string(self).map_err(|e| Error::Bug(e.to_string()))?;
        Ok(blake3::hash(format!("{FINGERPRINT_VERSION}\n{settings}").as_bytes()).to_hex().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_plan_is_valid_and_every_setting_moves_the_digest() {
        let plan = Plan::default();
        plan.validate().unwrap();
        let stricter = Plan { threshold: "0.81".parse().unwrap(), ..plan.clone() };
        let longer = Plan { ngram_size: 6, ..plan.clone() };
        assert_ne!(plan.digest().unwrap(), stricter.digest().unwrap());
        assert_ne!(plan.digest().unwrap(), longer.digest().unwrap());
    }

    #[test]
    fn contradictions_are_refused() {
        let bad = [
            Plan { ngram_size: 0, ..Plan::default() },
            Plan { floor: Some(Threshold::ONE), ..Plan::default() },
            Plan { floor: "0.5".parse().ok(), pairs: PairsMode::Star, ..Plan::default() },
            Plan { relation: Relate::Containment, pairs: PairsMode::Star, ..Plan::default() },
            Plan { remove: Remove::Contained, ..Plan::default() },
            Plan { relation: Relate::Containment, min_contained: 0, ..Plan::default() },
            Plan { protect: vec!["a[".into()], ..Plan::default() },
        ];
        for plan in bad {
            assert!(plan.validate().is_err(), "{plan:?}");
        }
    }
}
