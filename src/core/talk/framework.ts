/** The ways of thinking, each with its steps in a few words. */
export const frameworks = {
  direct: 'one step',
  consensus: 'weigh several ways',
  sequential: 'hypothesis, test, next',
  decompose: 'a tree of tasks',
  reflect: 'criticise, refine',
  script: 'a throw-away script',
} as const

export type Framework = keyof typeof frameworks

export const frameworkNames = Object.keys(frameworks) as Framework[]

/**
 * Why `direct` was chosen when nothing was known about the request: a wrong guess at a framework costs calls and time; `direct`
 * costs nothing, and the agent can still call for thought.
 */
export const leftToAgent = 'left to the agent'

/** The reason given for a framework that the person chose. It says nothing about the kind of request. */
export const personChose = 'you chose it'

/** The kind of request that each framework is for, as written for the agent that chooses one. */
export const frameworkUses: Readonly<Record<Framework, string>> = {
  direct: 'Simple, one-tool task',
  consensus: 'Open-ended, multiple valid paths',
  sequential: 'Debugging/diagnosis',
  decompose: 'Large multi-part feature',
  reflect: 'Safety-critical, needs verification',
  script: 'Complex logic, better as code',
}

/** The roles that a framework consults in addition to the acting agent. The `advisors` setting can name the agent for each. */
export const advisorRoles = [
  'enumerator',
  'pattern matcher',
  'dependency scanner',
  'fallback chain',
  'code generator',
  'chair',
  'judge',
  'diagnostician',
  'decider',
  'planner',
  'critic',
  'coder',
] as const

/** Roles whose name in the settings is not clear enough for a screen. */
const roleLabels: Readonly<Record<string, string>> = {
  enumerator: 'lists options',
  'pattern matcher': 'best practice',
  'dependency scanner': 'what works here',
  'fallback chain': 'plan B',
  'code generator': 'script draft',
}

/** A role in the form for people. */
export const roleLabel = (role: string): string => (Object.hasOwn(roleLabels, role) ? (roleLabels[role] ?? role) : role)

/**
 * How turns are thought through: with a framework chosen for each request (`auto`), not at all (`off`), or always with the same
 * framework.
 */
export type Thinking = 'auto' | 'off' | Framework

export const thinkings: readonly Thinking[] = ['auto', 'off', ...frameworkNames]
