import type { Tool } from '../../core/work/tool.ts'

/** A rule `Tool` or `Tool(spec)`; `text` is its original text, `answered` marks a rule that "always" added. */
export type Rule = { text: string; tool: string; spec?: string; answered?: true }

/** `spared` rules apply to this run only: calls that they allow need no yes, not even because of an `ask` rule. */
export type RuleSet = {
  deny: readonly Rule[]
  spared: readonly Rule[]
  ask: readonly Rule[]
  allow: readonly Rule[]
  /** Commands that are allowed and run outside the sandbox. */
  outside: readonly Rule[]
}

/** A pattern for all rules that `parseRule` accepts, for the JSON Schema of the settings. */
export const rulePattern =
  /^(?!\s*[A-Za-z][\w*-]*\s*\((?:\s*|domain:\s*|:\*)\)\s*$)(?!\s*[Bb]ash\s*\([\s\S]*(?<!\\):\*[\s\S]+\)\s*$)\s*[A-Za-z][\w*-]*\s*(?:\([\s\S]*\))?\s*$/

/** Parses a rule; a fault says what is wrong with it. */
export function parseRule(text: string): Rule | { fault: string } {
  const wrong = (why: string) => ({ fault: `${JSON.stringify(text)} is not a rule: ${why}` })
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
  if (/(?<!\\):\*./s.test(spec) && /^[Bb]ash$/.test(tool)) return wrong('":*" is allowed only at the end of a command')
  return { text: text.trim(), tool, spec }
}

/** The rule of an answer "always"; undefined if the text is not a rule. */
export function answeredRule(text: string): Rule | undefined {
  const rule = parseRule(text)
  return 'fault' in rule ? undefined : { ...rule, answered: true }
}

/** Parses the lists of rules in settings; each fault names its list. */
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
  const rules: RuleSet = {
    deny: read('deny'),
    spared: read('spared'),
    ask: read('ask'),
    allow: read('allow'),
    outside: read('outside'),
  }
  return { rules, faults }
}

/** Whether a rule names a tool, by its own name or by an alias. */
export function isRuleFor({ tool }: Rule, { name, aliases }: Tool): boolean {
  return tool === name || (aliases?.rules?.includes(tool) ?? false)
}
