/** A pattern for paths: `*` stays in its folder, `**` does not, a backslash takes the meaning from a letter. */
export function pathPattern(pattern: string): RegExp {
  return new RegExp(`^${translated(pattern, '[^/]*')}(?:/.*)?$`, 's')
}

/** A pattern for any other text: `*` is anything. */
export function textPattern(pattern: string): RegExp {
  return new RegExp(`^${translated(pattern, '.*')}$`, 's')
}

function translated(pattern: string, star: string): string {
  return pattern.replace(/\\(.)|\*\*\/|\*\*|\*|\?|[^\\*?]/gsu, (part, escaped: string | undefined) => {
    if (escaped !== undefined) return literal(escaped)
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    if (part === '*') return star
    return part === '?' ? '[^/]' : literal(part)
  })
}

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** A text that stands for nothing but itself in a pattern. */
export const escaped = (text: string) => text.replace(/[\\*?]/g, '\\$&')

export const hasStar = (pattern: string) => /(?<!\\)(?:\\\\)*[*]/.test(pattern)

export const unescaped = (pattern: string) => pattern.replace(/\\([\\*?])/g, '$1')
