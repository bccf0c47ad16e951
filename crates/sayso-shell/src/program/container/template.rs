//! What a template of `--format` or `-o` shows of an object: a few of its fields, or parts that hold the environment of a
//! container, in which people keep passwords and tokens.
//!
//! Not a reader of these languages: whatever is not plainly a path to a harmless field counts as showing all.

/// Fields that hold the environment of a container, however deep.
pub(super) struct Fields {
    /// It is shown wherever this stands in a path.
    pub shown: &'static [&'static str],
    /// It is shown where a path ends with this.
    pub whole: &'static [&'static str],
}

/// Longer ones count as showing all.
const LONGEST: usize = 2048;

/// What an `end` closes.
enum Open {
    If,
    /// With whether an element of it shown whole shows the environment.
    Range(bool),
}

/// Whether `{{..}}` of Go shows the environment. Text, `{{.A.B}}`, `{{json .A.B}}`, `{{if .A.B}}` and `{{range .A}}` are
/// understood. Quotes and comments, in which braces are none, are not; so the first `}}` is always the end.
pub(super) fn go(template: &str, fields: &Fields) -> bool {
    template.len() > LONGEST || narrow_go(template, fields).is_none()
}

/// `None`: it shows the environment, or may.
fn narrow_go(template: &str, fields: &Fields) -> Option<()> {
    let mut open: Vec<Open> = Vec::new();
    let mut rest = template;
    while let Some((_, from)) = rest.split_once("{{") {
        let (action, after) = from.split_once("}}")?;
        rest = after;
        let action = action.strip_prefix("- ").unwrap_or(action);
        let action = action.strip_suffix(" -").unwrap_or(action);
        let words: Vec<&str> = action.split(' ').filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            ["end"] => {
                open.pop()?;
            }
            // Behind a range it has the dot of outside.
            ["else"] => matches!(open.last()?, Open::If).then_some(())?,
            ["if", path] => {
                go_path(path)?;
                open.push(Open::If);
            }
            ["range", path] => {
                let parts = go_path(path)?;
                let any = parts.iter().any(|part| is_one_of(part, fields.shown));
                let whole = parts.last().is_some_and(|last| is_one_of(last, fields.whole));
                if any {
                    return None;
                }
                open.push(Open::Range(whole));
            }
            ["json", path] | [path] if *path == "." => {
                let inner = open.iter().rev().find_map(|it| match it {
                    Open::Range(whole) => Some(*whole),
                    Open::If => None,
                })?;
                (!inner).then_some(())?;
            }
            ["json", path] | [path] => {
                let parts = go_path(path)?;
                let shown = parts.iter().any(|part| is_one_of(part, fields.shown))
                    || parts.last().is_some_and(|last| is_one_of(last, fields.whole));
                (!shown).then_some(())?;
            }
            _ => return None,
        }
    }
    open.is_empty().then_some(())
}

/// The names in `.A.B`. `None`: it is nothing so plain.
fn go_path(path: &str) -> Option<Vec<&str>> {
    let parts: Vec<&str> = path.strip_prefix('.')?.split('.').collect();
    let plain = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    parts.iter().all(plain).then_some(parts)
}

/// Whether `{..}` of kubectl's JSONPath shows the environment. Without braces the text is a path.
pub(super) fn json_path(template: &str, fields: &Fields) -> bool {
    if template.len() > LONGEST {
        return true;
    }
    if !template.contains('{') {
        return path_of_json(template, fields);
    }
    let mut rest = template;
    while let Some((_, from)) = rest.split_once('{') {
        let Some((action, after)) = from.split_once('}') else { return true };
        rest = after;
        let action = action.trim();
        if action == "end" || is_text(action) {
            continue;
        }
        let (path, goes_into) = match action.strip_prefix("range ") {
            Some(path) => (path.trim(), true),
            None => (action, false),
        };
        if goes_into {
            if split_json(path).is_none_or(|parts| parts.iter().any(|part| is_one_of(part, fields.shown))) {
                return true;
            }
        } else if path_of_json(path, fields) {
            return true;
        }
    }
    false
}

/// Text in quotes and nothing else, and no quote or brace within.
fn is_text(action: &str) -> bool {
    ['"', '\''].into_iter().any(|quote| {
        let inside = action.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        inside.is_some_and(|text| !text.contains(['"', '\'', '{']))
    })
}

/// Whether columns of `custom-columns=NAME:.path,..` show it.
pub(super) fn columns(spec: &str, fields: &Fields) -> bool {
    spec.split(',').any(|column| column.split_once(':').is_none_or(|(_, path)| json_path(path, fields)))
}

fn path_of_json(path: &str, fields: &Fields) -> bool {
    let Some(parts) = split_json(path) else { return true };
    let Some(last) = parts.last() else { return true };
    is_one_of(last, fields.whole) || parts.iter().any(|part| is_one_of(part, fields.shown))
}

/// The names in a path. `None`: it goes anywhere (`..`, `*`), names several things at once, or is not understood.
fn split_json(path: &str) -> Option<Vec<String>> {
    let mut bare = String::new();
    let mut rest = path.trim().trim_start_matches(['$', '@']);
    while let Some((before, from)) = rest.split_once('[') {
        let (inside, after) = from.split_once(']')?;
        let filter = inside.starts_with("?(")
            && inside.ends_with(')')
            && ['"', '\''].into_iter().all(|quote| inside.matches(quote).count() % 2 == 0);
        let number =
            !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'*' | b':' | b'-'));
        if !filter && !number {
            return None;
        }
        bare.push_str(before);
        rest = after;
    }
    bare.push_str(rest);
    // A dot within a name: `.metadata.labels.app\.kubernetes\.io/name`.
    let bare = bare.replace("\\.", "\u{1}");
    let path = bare.strip_prefix('.').unwrap_or(&bare);
    let known =
        |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_/\x01".contains(&b));
    let parts: Vec<&str> = path.split('.').collect();
    parts.iter().all(known).then(|| parts.iter().map(|part| part.replace('\u{1}', ".")).collect())
}

fn is_one_of(part: &str, names: &[&str]) -> bool {
    names.iter().any(|name| part.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTAINER: Fields = Fields { shown: &["env"], whole: &["config", "spec"] };
    const POD: Fields = Fields {
        shown: &["env", "data"],
        whole: &["items", "spec", "containers", "annotations", "kubectl.kubernetes.io/last-applied-configuration"],
    };

    #[test]
    fn fields_that_hold_no_environment_are_told_apart() {
        for template in [
            "{{.State.Status}}",
            "{{json .State}}",
            "{{.Config.Image}}",
            "{{json .Config.Labels}}",
            "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}",
            "{{range .Mounts}}{{.Source}} {{end}}",
            "{{if .State.Running}}yes{{else}}no{{end}}",
            "{{range .Mounts}}{{.}}{{end}}",
            "{{- .Name -}} {{ .Id }}",
            "plain",
        ] {
            assert!(!go(template, &CONTAINER), "{template}");
        }
        for template in [
            "{{.}}",
            "{{json .}}",
            "{{.Config.Env}}",
            "{{json .Config}}",
            "{{range .Config.Env}}{{.}}{{end}}",
            "{{with .Config}}{{.Env}}{{end}}",
            "{{with .Config}}{{.}}{{end}}",
            "{{with .Config}}{{json .}}{{end}}",
            "{{with $x := .Config}}{{$x}}{{end}}",
            "{{$x := .Config}}{{$x}}",
            "{{index .Config \"Env\"}}",
            "{{index . \"Config\"}}",
            "{{json $}}",
            "{{range .Mounts}}{{json $}}{{end}}",
            "{{range .Mounts}}{{$.Config.Env}}{{end}}",
            "{{range .State.X}}{{else}}{{.}}{{end}}",
            "{{range .Mounts}}{{end}}{{.}}",
            "{{range .}}{{.}}{{end}}",
            "{{.Config.Env",
            "{{printf `%s` .Config.Env}}",
            "{{if 1}}{{json .}}{{end}}",
            "{{if .Id}}{{json .}}{{end}}",
            "{{range .Mounts}}{{\tend}}{{.}}",
            "{{range .Mounts}}{{-\nend}}{{.}}",
            "{{/* }} */}}{{.}}",
            "{{/* {{range .Mounts}} */}}{{.}}",
            "{{\"{{range .Mounts}}\"}}{{.}}",
            "{{range .Mounts}}{{end}}{{end}}",
            "{{range .Mounts}}{{if .X}}{{else}}{{end}}{{else}}{{.}}{{end}}",
            "{{.Id.Config",
            "{{{.}}}",
        ] {
            assert!(go(template, &CONTAINER), "{template}");
        }
    }

    #[test]
    fn paths_of_a_cluster_are_told_apart() {
        for path in [
            "{.items[*].metadata.name}",
            "{range .items[*]}{.metadata.name}{\"\\n\"}{end}",
            "{.status.phase}",
            ".status.loadBalancer.ingress[0].ip",
            "{.spec.containers[*].image}",
            "{.status.conditions[?(@.type==\"Ready\")].status}",
            "{.metadata.labels.app\\.kubernetes\\.io/name}",
        ] {
            assert!(!json_path(path, &POD), "{path}");
        }
        for path in [
            "{.items}",
            "{.items[*]}",
            "{.spec}",
            "{.spec.containers[0]}",
            "{.spec.containers[*].env[*].value}",
            "{..env}",
            "{.}",
            "{@}",
            "{$}",
            "{.items[*]['spec']}",
            "{.spec.*}",
            "{.data.x}",
            "{range .spec.containers[*].env[*]}{.value}{end}",
            "{.metadata.annotations}",
            "{.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}",
            "{\"x\".spec}",
            "{\"x\" .spec \"y\"}",
            "{\"}\"}{.spec}",
            "{.a[?(@.b==\"x)].c}",
            "{.spec",
        ] {
            assert!(json_path(path, &POD), "{path}");
        }
        assert!(!columns("NAME:.metadata.name,NODE:.spec.nodeName", &POD));
        assert!(columns("NAME:.metadata.name,E:.spec.containers[*].env", &POD));
        assert!(!go("{{range .items}}{{.metadata.name}}{{end}}", &POD));
        assert!(go("{{range .items}}{{.}}{{end}}", &POD));
        assert!(go("{{range .items}}{{.spec}}{{end}}", &POD));
    }

    #[test]
    fn a_long_template_shows_all() {
        let long = "{{.Id}}".repeat(LONGEST);
        assert!(go(&long, &CONTAINER));
        assert!(json_path(&".a".repeat(LONGEST), &POD));
    }
}
