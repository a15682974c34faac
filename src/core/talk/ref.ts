/** A blob: any body too long for a line of the log. */
export type Ref = { sha: string; media: string; bytes: number }
