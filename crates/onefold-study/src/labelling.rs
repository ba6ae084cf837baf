//! Which pairs to show to a person, and what the answers say about settings.
//!
//! In: documents with texts, and a plan. Out: pairs, one at a time, each the one that the answers so far leave most in doubt; then the length of shingles and the
//! threshold that agree best with all answers. Invariant: the same answers lead to the same questions. Cost: an exact run some way below the
//! threshold. A document is shown once, as long as there are others.

use std::collections::HashSet;

use onefold::{Document, Error, Exec, Input, Method, PairsMode, Plan, Threshold, Verify};

use crate::judge::{Labelled, Measure, Verdict, judge};

/// Pairs are looked for from so far below the threshold on.
const BELOW: f64 = 0.35;
/// Settings that are tried: shingles of so many words.
const LENGTHS: [u32; 6] = [2, 3, 5, 8, 10, 15];

/// Two documents, by number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The first.
    pub first: usize,
    /// The second.
    pub second: usize,
    /// By all shingles.
    pub resemblance: f64,
}

/// What a person was asked and said.
pub struct Labelling<'a> {
    documents: &'a [Document],
    /// By resemblance.
    questions: Vec<Question>,
    asked: Vec<(Question, Option<bool>)>,
    threshold: f64,
    ngram_size: u32,
}

/// What the answers speak for.
#[derive(Clone, Debug)]
pub struct Recommendation {
    /// Words in a shingle.
    pub ngram_size: u32,
    /// The threshold that tells most answers right.
    pub threshold: f64,
    /// How well all settings agree, the best first.
    pub verdicts: Vec<Verdict>,
}

impl<'a> Labelling<'a> {
    /// Finds the pairs around the threshold of a plan; equal documents are no question.
    pub fn new(plan: &Plan, documents: &'a [Document], exec: &Exec<'_>) -> Result<Labelling<'a>, Error> {
        let threshold = plan.threshold.as_f64();
        let floor: Threshold = format!("{:.3}", (threshold - BELOW).max(0.1).min(threshold)).parse()?;
        let plan = Plan {
            method: Method::Exact,
            preset: None,
            verify: Verify::Exact,
            pairs: PairsMode::All,
            floor: Some(floor),
            ..plan.clone()
        };
        let outcome = onefold::run(&plan, exec, vec![Input::Documents(documents.to_vec())], &mut onefold::Discard)?;
        let mut questions = Vec::new();
        outcome.pairs.each(|pair| {
            if !pair.similarity.is_one() {
                let [first, second] = [pair.first, pair.second].map(|document| document as usize);
                questions.push(Question { first, second, resemblance: pair.similarity.as_f64() });
            }
        })?;
        questions.sort_by(|a, b| a.resemblance.total_cmp(&b.resemblance).then((a.first, a.second).cmp(&(b.first, b.second))));
        Ok(Labelling { documents, questions, asked: Vec::new(), threshold, ngram_size: plan.ngram_size })
    }

    /// The pair that is most in doubt: nearest to where the answers so far change, of documents that were not shown yet if there are such.
    pub fn next(&self) -> Option<Question> {
        let doubt = self.boundary();
        let shown: HashSet<usize> = self.asked.iter().flat_map(|(question, _)| [question.first, question.second]).collect();
        let asked = |question: &&Question| !self.asked.iter().any(|(other, _)| other == *question);
        let known = |question: &Question| [question.first, question.second].iter().any(|document| shown.contains(document));
        let key = |question: &&Question| (known(question), ((question.resemblance - doubt).abs() * 1e9) as u64);
        self.questions.iter().filter(asked).min_by_key(key).copied()
    }

    /// Takes an answer; none where the person does not know.
    pub fn answer(&mut self, question: Question, same: Option<bool>) {
        self.asked.push((question, same));
    }

    /// How many were answered by yes or no.
    pub fn answers(&self) -> usize {
        self.asked.iter().filter(|(_, same)| same.is_some()).count()
    }

    /// The resemblance that parts yes from no with the fewest errors; nearest to the plan's threshold where there are several.
    fn boundary(&self) -> f64 {
        let answers: Vec<(f64, bool)> =
            self.asked.iter().filter_map(|(question, same)| Some((question.resemblance, (*same)?))).collect();
        let errors = |boundary: f64| answers.iter().filter(|(value, same)| (*value >= boundary) != *same).count();
        let mut values: Vec<f64> = answers.iter().map(|(value, _)| *value).collect();
        values.sort_by(f64::total_cmp);
        let between = values.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        let step = BELOW / 4.0;
        let ends = values.first().map(|least| least - step).into_iter().chain(values.last().map(|most| most + step));
        let candidates = [self.threshold].into_iter().chain(between).chain(ends);
        let far = |boundary: f64| ((boundary - self.threshold).abs() * 1e9) as u64;
        candidates.min_by_key(|&boundary| (errors(boundary), far(boundary))).unwrap_or(self.threshold)
    }

    /// The settings that agree best with the answers; none without answers of both kinds.
    pub fn recommend(&self) -> Option<Recommendation> {
        let labelled = |(question, same): &(Question, Option<bool>)| {
            let texts = [question.first, question.second].map(|document| self.documents[document].text.as_str());
            Some(Labelled { texts, positive: (*same)? })
        };
        let labelled: Vec<Labelled<'_>> = self.asked.iter().filter_map(labelled).collect();
        if !labelled.iter().any(|pair| pair.positive) || labelled.iter().all(|pair| pair.positive) {
            return None;
        }
        let measures = LENGTHS.map(Measure::Resemblance);
        let mut ranked: Vec<(u32, Verdict)> = LENGTHS.into_iter().zip(judge(&labelled, &measures)).collect();
        // Where settings are equally good the plan's own, or the nearest to it, is as good as any.
        let far = |length: u32| length.abs_diff(self.ngram_size);
        ranked.sort_by(|(a, x), (b, y)| y.cross_validated_f1.total_cmp(&x.cross_validated_f1).then(far(*a).cmp(&far(*b))));
        let (ngram_size, threshold) = (ranked[0].0, ranked[0].1.threshold);
        Some(Recommendation { ngram_size, threshold, verdicts: ranked.into_iter().map(|(_, verdict)| verdict).collect() })
    }

    /// The answers as a gold file of pairs, for `evaluate` and `bakeoff`.
    pub fn gold(&self) -> String {
        let id = |document: usize| self.documents[document].id.clone().unwrap_or_default();
        let mut csv = csv::Writer::from_writer(Vec::new());
        let mut write = |cells: [String; 3]| {
            let written = csv.write_record(&cells);
            debug_assert!(written.is_ok(), "memory takes everything");
        };
        write(["id_a", "id_b", "label"].map(String::from));
        for (question, same) in &self.asked {
            if let Some(same) = same {
                write([id(question.first), id(question.second), u8::from(*same).to_string()]);
            }
        }
        String::from_utf8(csv.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains of versions, each a little further from its first.
    fn documents() -> Vec<Document> {
        let words = |family: usize, changed: usize| {
            let word = |at: usize| if at < changed { format!("x{family}y{changed}z{at}") } else { format!("f{family}w{at}") };
            (0..200).map(word).collect::<Vec<_>>().join(" ")
        };
        let version = |family: usize, changed: usize| Document {
            id: Some(format!("{family:02}-{changed:03}")),
            text: words(family, changed),
            ..Document::default()
        };
        (0..20).flat_map(|family| [version(family, 0), version(family, 3 + 4 * family)]).collect()
    }

    /// Somebody for whom documents are the same from 0.6 on is found out.
    #[test]
    fn questions_close_in_on_what_a_person_means() {
        let documents = documents();
        let mut labelling = Labelling::new(&Plan::default(), &documents, &Exec::default()).unwrap();
        assert!(labelling.recommend().is_none(), "nothing was asked");
        let mut last = 1.0f64;
        for _ in 0..12 {
            let question = labelling.next().unwrap();
            labelling.answer(question, Some(question.resemblance >= 0.6));
            last = (question.resemblance - 0.6).abs();
        }
        assert!(last < 0.15, "{last}");
        let advice = labelling.recommend().unwrap();
        assert!(advice.verdicts[0].best_f1 > 0.99 && (0.3..0.9).contains(&advice.threshold), "{advice:?}");
        assert_eq!(labelling.gold().lines().count(), 13);
        assert!(labelling.gold().starts_with("id_a,id_b,label\n"));
    }

    #[test]
    fn skipped_questions_are_not_asked_again() {
        let documents = documents();
        let mut labelling = Labelling::new(&Plan::default(), &documents, &Exec::default()).unwrap();
        let mut seen = Vec::new();
        while let Some(question) = labelling.next() {
            assert!(!seen.contains(&(question.first, question.second)));
            seen.push((question.first, question.second));
            labelling.answer(question, None);
        }
        assert!(seen.len() > 10 && labelling.answers() == 0);
    }
}
