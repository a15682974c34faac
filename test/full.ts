/** Why a test that repeats a proof in another surrounding does not run in every run; false with `FULL=1`. */
export const fullOnly = process.env.FULL === '1' ? false : 'a repetition in another surrounding, which FULL=1 runs'

/**
 * The size of a proof: enough to prove it in every run, or with `FULL=1` as much as was promised. What a size is made of
 * (turns, kills, cases) is the test's own affair.
 */
export const sized = <Size>(usual: Size, full: Size): Size => (process.env.FULL === '1' ? full : usual)
