/** The variables that a program is started with. They are handed in, so that a test can give others. */
export type Env = Readonly<Record<string, string | undefined>>
