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
