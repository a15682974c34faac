/** The environment variables of a program. They are a parameter, so that a test can pass others. */
export type Env = Readonly<Record<string, string | undefined>>
