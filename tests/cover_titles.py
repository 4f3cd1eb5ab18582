"""Titles that are hard to set on a cover: by name, the text and its language."""

TITLES = {
    "short": ("Tea", "en"),
    "long": ("What a hundred days without social media taught me about attention, sleep, friendship and boredom", "en"),
    "endless": ("A title that does not know when it should stop " * 21, "en"),
    "one word": ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", "de"),
    "no word": ("x" * 400, "en"),
    "arabic": ("كيف تزرع الطماطم في شرفة صغيرة", "ar"),
    "hebrew": ("איך לגדל עגבניות במרפסת קטנה", "he"),
    "thai": ("วิธีปลูกมะเขือเทศบนระเบียงเล็กๆ ที่บ้านของคุณ", "th"),
    "hindi": ("छोटी बालकनी में टमाटर कैसे उगाएं", "hi"),
    "japanese": ("小さなベランダで、おいしいトマトをたくさん育てる方法", "ja"),
    "chinese": ("如何在小阳台上种植番茄", "zh"),
    "korean": ("작은 발코니에서 토마토 키우기", "ko"),
    "russian": ("Как вырастить помидоры на маленьком балконе", "ru"),
    "greek": ("Πώς να καλλιεργήσετε ντομάτες σε μικρό μπαλκόνι", "el"),
    "vietnamese": ("Ẩm thực đường phố: những món ăn ngon nhất Huế — ẤẬỆỮỞ", "vi"),
    "georgian": ("როგორ მოვიყვანოთ პომიდორი", "ka"),
    "marks": ("Z̸̢̛̗̪a̵̡̛l̶̨̛̩g̷̢̛o̸ " * 9, "en"),
}
