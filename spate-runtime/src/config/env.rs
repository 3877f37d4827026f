//! Variables in values: `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, and `$$` for a literal `$`.
//!
//! It works on a scalar that YAML has already parsed, in one pass: what a variable holds is never looked at again, so it
//! can neither change the file's structure nor name another variable. A `$` that is followed by anything else stays.
//! As in a shell, `:-` and `:?` treat an empty variable like one that is not set; `${NAME}` alone accepts an empty one.

/// Looks a variable up.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Replaces the variables of one scalar. The flag tells whether there was one.
///
/// # Errors
/// A message without any value: an undefined variable, or a `${` that is no variable.
pub(crate) fn interpolate(text: &str, lookup: Lookup<'_>) -> Result<(String, bool), String> {
    let mut out = String::with_capacity(text.len());
    let mut replaced = false;
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(inner) = rest.strip_prefix('{') {
            let end = inner
                .find('}')
                .ok_or("`${` without its `}`; write `$${` for a literal `${`")?;
            out.push_str(&resolve(&inner[..end], lookup)?);
            replaced = true;
            rest = &inner[end + 1..];
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    Ok((out, replaced))
}

fn resolve(expression: &str, lookup: Lookup<'_>) -> Result<String, String> {
    let length = expression
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(expression.len());
    let (name, form) = expression.split_at(length);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("`${..}` without the name of a variable (letters, digits and `_`); write `$${` for a literal `${`"
            .to_owned());
    }
    if form.contains("${") {
        return Err(format!(
            "`${{{name}..}}` holds another variable; a default or message is taken as it stands"
        ));
    }
    let value = lookup(name);
    if form.is_empty() {
        return value.ok_or_else(|| {
            format!("the environment variable `{name}` is not set; set it, or write `${{{name}:-default}}`")
        });
    }
    let filled = value.filter(|value| !value.is_empty());
    if let Some(default) = form.strip_prefix(":-") {
        Ok(filled.unwrap_or_else(|| default.to_owned()))
    } else if let Some(message) = form.strip_prefix(":?") {
        filled.ok_or_else(|| match message {
            "" => format!("the environment variable `{name}` is not set or empty"),
            message => format!("the environment variable `{name}` is not set or empty: {message}"),
        })
    } else {
        Err("`${..}` of an unknown form; known: `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, and `$${` for a \
             literal `${`"
            .to_owned())
    }
}
