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

/** How a person wants turns thought through: by what each request needs, always in one framework, or not at all. */
export type Thinking = 'auto' | 'off' | Framework

export const thinkings: readonly Thinking[] = ['auto', 'off', ...frameworkNames]
