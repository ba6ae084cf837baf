//! From flags to a plan: defaults, then the configuration file, then flags.

use std::fs;
use std::path::Path;

use anyhow::Result;
use onefold::{
    ClusterMode, Columns, Hash, Method, Numbers, PairsMode, Plan, Relate, Remove, TextRules, Threshold, Tolerance, Unit, Verify,
};

use crate::args::{
    ClusterName, HashName, MinHashArgs, NumbersName, PairsName, PlanArgs, ReadingArgs, RelationName, RemoveName, TextName,
    UnitName, VerifyName,
};
use crate::exit::Usage;

/// The plan that the flags ask for, checked.
pub fn resolve(args: &PlanArgs) -> Result<Plan> {
    with_flags(configured(args)?, args)
}

/// The same for one who follows it. Shares of shingles are refused at another threshold than they were made for: nobody knows what they
/// promise there.
pub fn resolve_to_follow(args: &PlanArgs) -> Result<Plan> {
    let planned = configured(args)?;
    let plan = with_flags(planned.clone(), args)?;
    match (&planned.method, &plan.method) {
        (Method::Adaptive(_), Method::Adaptive(_)) if planned.threshold != plan.threshold => {
            let shown = args.config.as_deref().map(Path::display);
            let made_for = format!("made for a threshold of {}; tune for {}", planned.threshold, plan.threshold);
            Err(Usage(format!("the shares of '{}' are {made_for}", shown.map(|s| s.to_string()).unwrap_or_default())).into())
        }
        _ => Ok(plan),
    }
}

/// The plan before any flag.
fn configured(args: &PlanArgs) -> Result<Plan> {
    args.config.as_deref().map_or_else(|| Ok(Plan::default()), read_config)
}

fn with_flags(mut plan: Plan, args: &PlanArgs) -> Result<Plan> {
    if let Some(name) = &args.method {
        let named = onefold::preset(name)?;
        match &plan.preset {
            // The same as in the file keeps the settings that it has there.
            Some(of_file) if of_file == name => (),
            // A work sets more than the method, which another would leave behind.
            Some(of_file) if of_file != plan.method.name() => {
                return Err(Usage(format!("the configuration follows '{of_file}', which --method {name} contradicts")).into());
            }
            None if plan.method.name() == name => (),
            _ => named.apply(&mut plan),
        }
    }
    if let Some(threshold) = &args.threshold {
        plan.threshold = threshold.parse()?;
    }
    if let Some(floor) = &args.floor {
        plan.floor = Some(Threshold::parse("floor", floor)?);
    }
    if let Some(keep) = &args.keep {
        plan.keep = keep.parse()?;
    }
    set(&mut plan.ngram_size, args.ngram_size);
    plan.protect.extend(args.protect.iter().cloned());
    if let Some(containment) = &args.containment {
        plan.containment = Threshold::parse("containment", containment)?;
    }
    set(&mut plan.min_contained, args.min_contained);
    set(&mut plan.remove, args.remove.map(remove));
    // Nothing can lie inside another where nobody looks for it.
    let implied = matches!(args.remove, Some(RemoveName::Contained)).then_some(Relate::Containment);
    set(&mut plan.relation, args.relation.map(relation).or(implied));
    if plan.relation == Relate::Resemblance && (args.containment.is_some() || args.min_contained.is_some()) {
        return Err(Usage("--containment and --min-contained belong to --relation containment".into()).into());
    }
    set(&mut plan.cluster, args.cluster.map(cluster));
    set(&mut plan.pairs, args.pairs.map(pairs));
    plan.max_pairs = args.max_pairs.or(plan.max_pairs);
    plan.common_shingles = args.common_shingles.or(plan.common_shingles);
    set(&mut plan.verify, args.verify.map(verify));
    if let Some(share) = &args.max_edit {
        plan.max_edit = Tolerance::parse("max-edit", share)?;
        if plan.verify != Verify::Edit {
            return Err(Usage("--max-edit belongs to --verify edit".into()).into());
        }
    }
    set(&mut plan.shingle, args.shingle.map(unit));
    set(&mut plan.text, args.text.map(text));
    set(&mut plan.hash, args.hash.map(hash));
    set(&mut plan.numbers, args.numbers.map(numbers));
    for (typed, slot) in [(&args.stop_words, &mut plan.stop_words), (&args.stem, &mut plan.stem)] {
        if let Some(language) = typed {
            *slot = Some(language.parse()?);
        }
    }
    plan.min_idf = args.min_idf.or(plan.min_idf);
    plan.method = minhash(plan.method, &args.minhash)?;
    let mut plan = args.set.iter().try_fold(plan, |plan, typed| change(&plan, typed))?;
    reading(&mut plan, &args.reading);
    plan.validate()?;
    Ok(plan)
}

fn read_config(path: &Path) -> Result<Plan> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|e| Usage(format!("cannot read configuration '{shown}': {e}")))?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..start].matches('\n').count();
        let words = text.lines().nth(line).unwrap_or_default().trim();
        let problem = error.message().replace('\n', ", ");
        Usage(format!("configuration '{shown}', line {}: {problem} (in '{words}')", line + 1)).into()
    })
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

fn relation(name: RelationName) -> Relate {
    match name {
        RelationName::Resemblance => Relate::Resemblance,
        RelationName::Containment => Relate::Containment,
    }
}

fn remove(name: RemoveName) -> Remove {
    match name {
        RemoveName::Duplicates => Remove::Duplicates,
        RemoveName::Contained => Remove::Contained,
    }
}

fn cluster(name: ClusterName) -> ClusterMode {
    match name {
        ClusterName::Conservative => ClusterMode::Conservative,
        ClusterName::Transitive => ClusterMode::Transitive,
    }
}

fn pairs(name: PairsName) -> PairsMode {
    match name {
        PairsName::All => PairsMode::All,
        PairsName::Star => PairsMode::Star,
    }
}

pub fn verify(name: VerifyName) -> Verify {
    match name {
        VerifyName::Exact => Verify::Exact,
        VerifyName::Edit => Verify::Edit,
        VerifyName::None => Verify::None,
    }
}

fn unit(name: UnitName) -> Unit {
    match name {
        UnitName::Words => Unit::Words,
        UnitName::Chars => Unit::Chars,
        UnitName::Bytes => Unit::Bytes,
        UnitName::Lines => Unit::Lines,
        UnitName::Spots => Unit::Spots,
    }
}

fn text(name: TextName) -> TextRules {
    match name {
        TextName::Words => TextRules::Words,
        TextName::Plain => TextRules::Plain,
        TextName::Letters => TextRules::Letters,
    }
}

fn numbers(name: NumbersName) -> Numbers {
    match name {
        NumbersName::Keep => Numbers::Keep,
        NumbersName::Drop => Numbers::Drop,
        NumbersName::Mask => Numbers::Mask,
    }
}

fn hash(name: HashName) -> Hash {
    match name {
        HashName::Fast => Hash::Fast,
        HashName::Rabin32 => Hash::Rabin32,
        HashName::Rabin40 => Hash::Rabin40,
        HashName::Rabin64 => Hash::Rabin64,
        HashName::Md5 => Hash::Md5,
        HashName::Sha1 => Hash::Sha1,
    }
}

/// MinHash with its own flags; where the method is another they are refused rather than ignored.
fn minhash(method: Method, args: &MinHashArgs) -> Result<Method> {
    let MinHashArgs { num_perm, bands, rows, seed } = *args;
    match method {
        Method::MinHash(mut settings) => {
            set(&mut settings.num_perm, num_perm);
            set(&mut settings.seed, seed);
            settings.bands = bands.or(settings.bands);
            settings.rows = rows.or(settings.rows);
            Ok(Method::MinHash(settings))
        }
        other if num_perm.is_none() && bands.is_none() && rows.is_none() && seed.is_none() => Ok(other),
        _ => Err(Usage("--num-perm, --bands, --rows and --seed belong to --method minhash".into()).into()),
    }
}

/// The plan with one setting changed: one of the method if it has it, else one of the plan.
fn change(plan: &Plan, typed: &str) -> Result<Plan> {
    let Some((key, value)) = typed.split_once('=') else {
        return Err(Usage(format!("--set needs KEY=VALUE, such as modulo=8, not '{typed}'")).into());
    };
    let (key, value) = (key.trim(), value.trim());
    if key == "preset" || value.contains('\n') {
        return Err(Usage(format!("--set can't change '{key}' like this; --method names a work")).into());
    }
    // A number or a word of TOML, else a text.
    let line = |value: &str| toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
    let value = line(value).and_then(|mut table| table.remove("value")).unwrap_or_else(|| value.into());
    let with = |inside: Option<&str>, key: &str| -> std::result::Result<Plan, String> {
        let mut table = toml::Table::try_from(plan).map_err(|error| error.to_string())?;
        let target = match inside {
            Some(inside) => table.get_mut(inside).and_then(toml::Value::as_table_mut),
            None => Some(&mut table),
        };
        target.ok_or("there is no such part of a plan")?.insert(key.into(), value.clone());
        table.try_into().map_err(|error: toml::de::Error| error.message().lines().next().unwrap_or_default().into())
    };
    let changed = match key.split_once('.') {
        Some((inside, key)) => with(Some(inside), key),
        None => match with(Some("method"), key) {
            Err(problem) if problem.contains("unknown field") => with(None, key),
            result => result,
        },
    };
    let changed = changed.map_err(|problem| Usage(format!("--set {typed}: {problem} (method {})", plan.method.name())))?;
    let preset = plan.preset.clone().filter(|_| changed.method.name() == plan.method.name());
    Ok(Plan { preset, ..changed })
}

pub fn reading(plan: &mut Plan, args: &ReadingArgs) {
    let Columns { text, id, url, time, score, source } = &mut plan.columns;
    set(text, args.text_column.clone());
    set(id, args.id_column.clone());
    set(url, args.url_column.clone());
    set(time, args.time_column.clone());
    set(score, args.score_column.clone());
    set(source, args.source_column.clone());
    plan.follow |= args.follow;
    set(&mut plan.max_document_bytes, args.max_document_bytes);
}
