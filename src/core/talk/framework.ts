/** The six ways of thinking, each with how it goes. */
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

/** Whoever is asked besides whoever acts, by what for: a person may say who. */
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

/** How a person wants turns thought through: by what each request needs, always in one framework, or not at all. */
export type Thinking = 'auto' | 'off' | Framework

export const thinkings: readonly Thinking[] = ['auto', 'off', ...frameworkNames]
