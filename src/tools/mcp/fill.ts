export type Env = Readonly<Record<string, string | undefined>>

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** `${VAR}` and `${VAR:-default}` filled in; one that is not set stays as it was written, and its name is given back. */
export function fill(text: string, env: Env): { text: string; unset: string[] } {
  const unset: string[] = []
  const filled = text.replace(variable, (written, name: string, otherwise: string | undefined) => {
    const value = env[name]
    if (value !== undefined && (value !== '' || otherwise === undefined)) return value
    if (otherwise !== undefined) return otherwise
    unset.push(name)
    return written
  })
  return { text: filled, unset }
}
