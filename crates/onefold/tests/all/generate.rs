//! Collections made on purpose: real paragraphs, mutated so that many pairs lie near the thresholds.

use crate::corpus::Record;

/// SplitMix64: small, and the same numbers everywhere for ever.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

const PARAGRAPHS: &str = include_str!("../data/paragraphs.txt");
const WITHOUT_SPACES: [&str; 4] = [
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。",
    "道可道，非常道。名可名，非常名。無名天地之始；有名萬物之母。故常無欲，以觀其妙；常有欲，以觀其徼。",
    "ทุกคนเกิดมามีอิสระและเสมอภาคกันในศักดิ์ศรีและสิทธิ ต่างมีเหตุผลและมโนธรรม",
    "The word 重複 means duplicate, コピー means copy, and 2024年 is a year.",
];

type Words = Vec<String>;

fn words(text: &str) -> Words {
    text.split_whitespace().map(String::from).collect()
}

/// So many documents, with scores, times, sources, marks for protection (`keep-`) and bad bytes at random.
pub fn collection(seed: u64, count: usize) -> Vec<Record> {
    let mut random = Random(seed);
    let mut texts: Vec<Words> = Vec::new();
    while texts.len() < count {
        let text = text(&mut random, &texts);
        texts.push(text);
    }
    let mut records: Vec<Record> = texts.into_iter().enumerate().map(|(at, text)| record(&mut random, at, text)).collect();
    random.shuffle(&mut records);
    records
}

fn text(random: &mut Random, earlier: &[Words]) -> Words {
    let old = if earlier.is_empty() { fresh(random) } else { random.pick(earlier) };
    match random.below(100) {
        0..15 => fresh(random),
        15..45 => edited(random, old),
        45..60 => cut(random, &old),
        60..65 => restyled(random, old),
        65..72 => with_boilerplate(random, old),
        72..77 => [old, fresh(random)].concat(),
        77..82 => repeated(random, &old),
        82..88 => tiny(random),
        88..90 => words(["", " \n\t", "— … !", "\u{200b}"][random.below(4)]),
        _ => foreign(random),
    }
}

fn fresh(random: &mut Random) -> Words {
    let lines: Vec<&str> = PARAGRAPHS.lines().collect();
    (0..=random.below(2)).flat_map(|_| words(random.pick(&lines))).collect()
}

/// Words replaced, removed, added, a passage moved: few times or many.
fn edited(random: &mut Random, mut text: Words) -> Words {
    let most = random.pick(&[1, 3, 12]);
    for _ in 0..=random.below(most) {
        let at = random.below(text.len());
        match random.below(4) {
            0 if at < text.len() => text[at] = format!("edit{}", random.below(50)),
            1 if at < text.len() => drop(text.remove(at)),
            2 => text.insert(at, format!("new{}", random.below(50))),
            _ => text.rotate_left(at),
        }
    }
    text
}

/// A prefix whose resemblance to the whole lies at a threshold, or a shingle beside it.
fn cut(random: &mut Random, text: &[String]) -> Words {
    let width = random.pick(&[3, 5, 10]);
    let shingles = (text.len() + 1).saturating_sub(width);
    let percent = random.pick(&[50, 80, 95]);
    let left = (shingles * percent).div_ceil(100) + random.below(3);
    text[..(left + width).saturating_sub(2).min(text.len())].to_vec()
}

/// The same tokens in other characters: exact duplicates that differ in bytes.
fn restyled(random: &mut Random, text: Words) -> Words {
    match random.below(3) {
        0 => text.into_iter().map(|word| word.to_uppercase()).collect(),
        1 => text.into_iter().map(|word| format!("“{word}”")).collect(),
        _ => text.into_iter().map(|word| word.chars().map(full_width).collect()).collect(),
    }
}

fn full_width(c: char) -> char {
    if c.is_ascii_alphanumeric() { char::from_u32(c as u32 + 0xfee0).unwrap() } else { c }
}

/// A page of a site: one of a few frames around a piece of text, from mostly text to mostly frame.
fn with_boilerplate(random: &mut Random, text: Words) -> Words {
    let lines: Vec<&str> = PARAGRAPHS.lines().collect();
    let frame = words(lines[random.below(3)]);
    let piece = random.below(text.len() + 1);
    [&frame[..], &text[..piece]].concat()
}

/// Two or more rounds of one text: equal sets, different texts.
fn repeated(random: &mut Random, text: &[String]) -> Words {
    let round = &text[..text.len().min(10 + random.below(40))];
    vec![round.to_vec(); 2 + random.below(3)].concat()
}

fn tiny(random: &mut Random) -> Words {
    (0..=random.below(9)).map(|_| random.pick(&["yes", "no", "page", "moved", "Moved!"]).to_string()).collect()
}

fn foreign(random: &mut Random) -> Words {
    let mut text: Vec<char> = random.pick(&WITHOUT_SPACES).chars().collect();
    for _ in 0..random.below(4) {
        let at = random.below(text.len());
        match random.below(3) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, '新'),
            _ => text.truncate(text.len() - random.below(text.len() / 3 + 1)),
        }
    }
    vec![text.into_iter().collect()]
}

fn record(random: &mut Random, number: usize, mut text: Words) -> Record {
    let lossy = random.chance(10);
    if lossy {
        // Between words, so that the tokens stay those of the whole text.
        text.insert(random.below(text.len() + 1), "\u{fffd}".into());
    }
    let kind = random.pick(&["doc-", "doc-", "é-", "keep-", "a/b-"]);
    let source = random.chance(40).then(|| random.pick(&["mirror", "original", "kept-archive"]).to_string());
    Record {
        id: format!("{kind}{number}"),
        text: text.join(random.pick(&[" ", "\n", " \u{3000}"])),
        source,
        score: random.chance(60).then(|| random.below(4) as f64 / 2.0),
        time: random.chance(60).then(|| random.below(3) as i64 * 86_400),
        lossy,
    }
}
