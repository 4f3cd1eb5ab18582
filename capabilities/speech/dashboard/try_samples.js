// Samples: what a voice says when it is tried, in its own language.

const SENTENCES = {
  ar: "صباح الخير. هكذا أقرأ نصوصك.",
  cs: "Dobré ráno. Takhle čtu vaše texty.",
  da: "Godmorgen. Sådan læser jeg dine tekster.",
  de: "Guten Morgen! So lese ich Ihre Texte vor.",
  el: "Καλημέρα. Έτσι διαβάζω τα κείμενά σας.",
  en: "Good morning! This is how I read your texts.",
  es: "¡Buenos días! Así leo sus textos.",
  fi: "Hyvää huomenta. Näin luen tekstejäsi.",
  fr: "Bonjour ! Voici comment je lis vos textes.",
  hi: "नमस्ते। मैं आपके लेख इस तरह पढ़ता हूँ।",
  hu: "Jó reggelt! Így olvasom fel a szövegeit.",
  id: "Selamat pagi. Begini cara saya membaca teks Anda.",
  it: "Buongiorno! Leggo i vostri testi così.",
  ja: "おはようございます。このように文章を読みます。",
  ko: "안녕하세요. 저는 이렇게 글을 읽습니다.",
  nb: "God morgen. Slik leser jeg tekstene dine.",
  nl: "Goedemorgen! Zo lees ik uw teksten voor.",
  pl: "Dzień dobry! Tak czytam państwa teksty.",
  pt: "Bom dia! É assim que eu leio os seus textos.",
  ro: "Bună dimineața! Așa citesc textele dumneavoastră.",
  ru: "Доброе утро! Вот так я читаю ваши тексты.",
  sv: "God morgon! Så här läser jag dina texter.",
  tr: "Günaydın! Metinlerinizi böyle okuyorum.",
  uk: "Доброго ранку! Ось так я читаю ваші тексти.",
  vi: "Chào buổi sáng. Tôi đọc văn bản của bạn như thế này.",
  zh: "早上好！我是这样朗读文章的。",
};
/** Numbers are read in every language. */
const NUMBERS = "1, 2, 3, 4, 5, 6, 7.";

/** Return what a voice of a language says. */
export function sampleText(language) {
  return SENTENCES[language.split("-")[0].toLowerCase()] ?? NUMBERS;
}
