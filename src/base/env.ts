/** The variables with which a program is started. They are handed in, so that a test can pass others. */
export type Env = Readonly<Record<string, string | undefined>>
