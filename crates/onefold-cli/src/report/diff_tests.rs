use super::*;
use proptest::prelude::*;

fn marked(excerpt: &Excerpt) -> String {
    let show = |(piece, only): &(String, bool)| if *only { format!("[{piece}]") } else { piece.clone() };
    excerpt.pieces.iter().map(show).collect()
}

fn plain(excerpt: &Excerpt) -> String {
    excerpt.pieces.iter().map(|(piece, _)| piece.as_str()).collect()
}

#[test]
fn words_that_only_one_has_are_marked() {
    let [left, right] = compare("The old fox, it jumps high.", "the fox - it jumps very high", 2000);
    assert_eq!(marked(&left), "The [old] fox, it jumps high.");
    assert_eq!(marked(&right), "the fox - it jumps [very] high");
}

#[test]
fn scripts_without_spaces_are_compared_by_character() {
    let [left, right] = compare("東京都は大きい", "東京は大きい", 2000);
    assert_eq!((marked(&left).as_str(), marked(&right).as_str()), ("東京[都]は大きい", "東京は大きい"));
}

#[test]
fn long_texts_are_cut_around_the_first_difference() {
    let start = "word ".repeat(3000);
    let (left, right) = (format!("{start}kept end {start}"), format!("{start}removed end {start}"));
    let [a, b] = compare(&left, &right, 2000);
    assert_eq!((a.length, b.length), (2000, 2000));
    assert_eq!(a.before + a.length + a.after, left.len());
    assert!(marked(&a).contains("word [kept] end word") && marked(&b).contains("word [removed] end word"));
    assert!(a.before > 14_000);
}

#[test]
fn a_text_that_goes_on_is_shown_from_where_the_other_ends() {
    let start = "word ".repeat(3000);
    let [a, b] = compare(&start, &format!("{start}and more"), 2000);
    assert!(marked(&b).ends_with("[and more]"), "{}", marked(&b));
    assert!(!marked(&a).contains('['));
}

#[test]
fn what_moved_down_is_found_again() {
    let tail: String = (0..800).map(|n| format!("w{n} ")).collect();
    let added: String = (0..600).map(|n| format!("added{n} ")).collect();
    let [a, b] = compare(&tail, &format!("{added}{tail}"), 2000);
    assert!(!marked(&a).contains('['), "{}", marked(&a));
    assert!(marked(&b).starts_with('['));
}

#[test]
fn equal_words_have_no_marks_and_start_at_the_beginning() {
    let text = "word, ".repeat(3000);
    let [a, b] = compare(&text, &text.to_uppercase(), 2000);
    assert_eq!((a.before, b.before), (0, 0));
    assert!(!marked(&a).contains('[') && !marked(&b).contains('['));
}

proptest! {
    #[test]
    fn an_excerpt_is_a_part_of_its_text(left in "\\PC{0,80}", right in "\\PC{0,80}", most in 1usize..60) {
        for (text, excerpt) in [&left, &right].into_iter().zip(compare(&left, &right, most)) {
            let expected: String = text.chars().skip(excerpt.before).take(excerpt.length).collect();
            prop_assert_eq!(plain(&excerpt), expected);
            prop_assert!(excerpt.length <= most);
            prop_assert_eq!(excerpt.before + excerpt.length + excerpt.after, text.chars().count());
        }
    }

    #[test]
    fn what_is_not_marked_is_common(left in "([abc] ){0,30}", right in "([abc] ){0,30}") {
        let unmarked = |excerpt: &Excerpt| {
            let pieces: String = excerpt.pieces.iter().filter(|(_, only)| !only).map(|(piece, _)| piece.as_str()).collect();
            pieces.split_whitespace().collect::<String>()
        };
        let [a, b] = compare(&left, &right, 2000);
        prop_assert_eq!(unmarked(&a), unmarked(&b));
    }
}
