/*
 * A path scope is a list of paths below one folder: files, folders (which mean everything in them) and patterns. It says which
 * files a piece of work may change, so that two pieces can be done side by side.
 */

/** Whether no file is in both scopes. An empty scope may mean any file. */
export function areSeparate(one: readonly string[] = [], other: readonly string[] = []): boolean {
  if (one.length === 0 || other.length === 0) return false
  return one.every((path) => other.every((another) => surelyDiffer(partsOf(path), partsOf(another))))
}

/** Whether a path is in a scope of plain files and folders; both are relative to the same folder. */
export function isInScope(path: string, scope: readonly string[]): boolean {
  const parts = namesIn(path)
  return scope.some((one) => {
    const names = namesIn(one)
    return names.length <= parts.length && names.every((name, depth) => name === parts[depth])
  })
}

/** Says why a path cannot be in a scope that is enforced exactly; undefined if it can. */
export function scopeFault(path: string): string | undefined {
  if (path.trim() === '') return 'is empty'
  if (/^(\/|~|[A-Za-z]:)/.test(path.trim())) return 'is not relative to the project'
  if (path.replaceAll('\\', '/').split('/').includes('..')) return 'leads out of the project'
  return /[*?[\]{}!]/.test(path) ? 'is a pattern' : undefined
}

/** The names in a path, in lower case, because some disks ignore case; a path from outside the working folder may lead anywhere. */
function partsOf(path: string): string[] {
  const plain = path.trim().toLowerCase().replaceAll('\\', '/')
  if (/^(\/|~|[a-z]:)/.test(plain)) return ['**']
  return namesIn(plain)
}

const namesIn = (path: string) =>
  path
    .trim()
    .replaceAll('\\', '/')
    .split('/')
    .filter((name) => name !== '' && name !== '.')

/** A name that may match any number of names. */
const leadsAnywhere = (name: string) => name === '..' || /\*\*|[{}()]/.test(name)

const isPattern = (name: string) => /[*?[\]!]/.test(name)

/** Whether the names differ at some depth; a pattern may match any name, and a folder includes everything in it. */
function surelyDiffer(one: readonly string[], other: readonly string[]): boolean {
  for (let depth = 0; depth < Math.min(one.length, other.length); depth++) {
    const names = [one[depth]!, other[depth]!] as const
    if (names.some(leadsAnywhere)) return false
    if (!names.some(isPattern) && names[0] !== names[1]) return true
  }
  return false
}
