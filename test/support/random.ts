export const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
let state = seed % 2_147_483_647 || 1;

/** Random numbers below the given one, which the seed (`SEED`) decides. */
export const random = (below: number): number => {
  state = (state * 48_271) % 2_147_483_647;
  return state % below;
};
