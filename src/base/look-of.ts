import unhomoglyph from 'unhomoglyph';

// And the blank of Braille, which fonts draw as nothing.
const invisible = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns the same text for all texts that appear the same (UTS 39), without invisible characters. */
export function lookOf(text: string): string {
  return unhomoglyph(text.normalize('NFKC').replace(invisible, ''));
}

/** Returns what a text appears as in each case: people confuse two texts that share a result. */
export function lookInEachCase(text: string): string[] {
  const plain = text.normalize('NFKC');
  return [plain, plain.toLowerCase(), plain.toUpperCase()].map((each) => lookOf(each).toLowerCase());
}
