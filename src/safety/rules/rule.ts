/** `Tool` or `Tool(spec)`, as it was written. */
export type Rule = { text: string; tool: string; spec?: string }

/** `spared`: what a person allowed for this run alone, which no rule asks about again. */
export type RuleSet = {
  deny: readonly Rule[]
  spared: readonly Rule[]
  ask: readonly Rule[]
  allow: readonly Rule[]
}

/** What a shell may or may not do, a script may or may not do as well. */
const shells = ['bash', 'repl']

/** The names that rules made for Claude Code use, and our tools behind them. */
const others: Readonly<Record<string, readonly string[]>> = {
  bash: shells,
  Bash: shells,
  Read: ['file_reader', 'grep_search', 'glob', 'ls'],
  Edit: ['file_editor', 'file_creator'],
  MultiEdit: ['file_editor'],
  Write: ['file_creator', 'file_editor'],
  Grep: ['grep_search'],
  Glob: ['glob'],
  LS: ['ls'],
  WebFetch: ['web_fetch'],
  WebSearch: ['web_search'],
  Task: ['subagent'],
  Skill: ['load_skill'],
}

/** Reads a rule; what is wrong with it is said in words. */
export function parseRule(text: string): Rule | { fault: string } {
  const wrong = (why: string) => ({ fault: `${JSON.stringify(text)} is no rule: ${why}` })
  const found = /^\s*([A-Za-z][\w*-]*)\s*(?:\(([^]*)\))?\s*$/.exec(text)
  if (!found) {
    if (/^\s*[A-Za-z][\w*-]*\s*\(/.test(text)) return wrong('the closing ) is missing')
    return wrong('a rule is the name of a tool, or Tool(pattern), such as bash(npm test:*) or file_editor(src/**)')
  }
  const [, tool = '', spec] = found
  if (spec === undefined) return { text: text.trim(), tool }
  if (spec.trim() === '') return wrong(`the pattern is empty; ${tool} alone means every use of it`)
  if (/^domain:\s*$/.test(spec)) return wrong('after domain: the name of a host is missing')
  if (spec === ':*')
    return wrong(`before :* the beginning of a command is missing; ${tool} alone means every use of it`)
  if (/(?<!\\):\*./s.test(spec) && toolsOf(tool).includes('bash')) return wrong('":*" stands at the end of a command')
  return { text: text.trim(), tool, spec }
}

/** Reads lists of rules as settings hold them; each fault names where it stands. */
export function parseRules(lists: Partial<Record<keyof RuleSet, readonly string[]>>): {
  rules: RuleSet
  faults: string[]
} {
  const faults: string[] = []
  const read = (kind: keyof RuleSet) =>
    (lists[kind] ?? []).flatMap((text) => {
      const rule = parseRule(text)
      if (!('fault' in rule)) return [rule]
      faults.push(`${kind}: ${rule.fault}`)
      return []
    })
  return { rules: { deny: read('deny'), spared: read('spared'), ask: read('ask'), allow: read('allow') }, faults }
}

export function toolsOf(name: string): readonly string[] {
  return (Object.hasOwn(others, name) ? others[name] : undefined) ?? [name]
}
