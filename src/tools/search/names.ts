/** Whether a path is meant by a glob, as ripgrep reads one: without a slash the name alone counts. For where there is no ripgrep. */
export function byGlob(glob: string): (path: string) => boolean {
  const whole = glob.replace(/\/$/, '/**')
  const anchor = whole.includes('/') ? '' : '(?:.*/)?'
  const pattern = new RegExp(`^${anchor}${translated(whole.replace(/^\.?\//, ''))}$`, 'su')
  return (path) => pattern.test(path)
}

function translated(glob: string): string {
  let out = ''
  let depth = 0
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]!
    if (glob.startsWith('**/', i)) {
      out += '(?:.*/)?'
      i += 2
    } else if (glob.startsWith('**', i)) {
      out += '.*'
      i++
    } else if (char === '*') out += '[^/]*'
    else if (char === '?') out += '[^/]'
    else if (char === '{') out += (depth++, '(?:')
    else if (char === '}' && depth > 0) out += (depth--, ')')
    else if (char === ',' && depth > 0) out += '|'
    // Brackets are meant literally: many projects have them in their names, and nobody else needs them.
    else out += char.replace(/[\\^$.|+()[\]{}/]/, '\\$&')
  }
  return out + ')'.repeat(depth)
}
