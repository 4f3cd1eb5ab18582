"""Traditional: Chinese as Taiwan and Hong Kong write it, for what is known of Chinese in simplified characters."""

#: The characters of the taxonomy and of the languages' words that differ, in pairs.
_PAIRS = (
    "专專业業东東两兩个個为為举舉么麼乐樂习習书書买買争爭产產亲親仅僅仓倉们們价價会會传傳体體侣侶债債儿兒关關养養兽獸内內写寫减減几幾划劃"
    "创創刹剎剧劇办辦务務动動医醫华華单單卧臥厅廳历歷压壓厨廚发發变變后後员員团團园園图圖场場坚堅垫墊奖獎妆妝妈媽娱娛婴嬰学學实實宠寵导導"
    "将將岛島币幣师師带帶广廣应應开開态態总總恋戀惯慣戏戲户戶战戰护護报報摄攝摇搖据據数數时時术術机機权權条條极極构構标標样樣桩樁检檢楼樓"
    "气氣汇匯沟溝没沒洁潔浇澆测測润潤湿濕滩灘滚滾灵靈炼煉烛燭爱愛猫貓状狀环環现現电電画畫盘盤码碼礼禮离離种種税稅竞競签簽简簡篮籃类類"
    "红紅约約纫紉纳納纸紙线線练練细細织織绍紹经經络絡统統绣繡续續维維综綜绿綠编編缝縫网網职職联聯肤膚胀脹脏臟脑腦艺藝节節药藥营營虑慮"
    "蜡蠟装裝裤褲规規视視览覽觉覺计計训訓议議记記设設证證评評词詞试試诗詩该該详詳语語说說读讀课課调調谱譜财財货貨贴貼贷貸资資赛賽车車转轉"
    "轮輪软軟轿轎辆輛辑輯辞辭运運还還这這进進远遠选選郁鬱钢鋼钱錢银銀销銷锅鍋键鍵锻鍛镇鎮镜鏡长長门門问問间間阅閱队隊阳陽险險难難预預"
    "领領题題饪飪饭飯饰飾馆館马馬驶駛驾駕验驗骑騎骤驟鱼魚鸡雞与與储儲区區复複头頭宝寶开開怀懷晒曬橱櫥点點筑築绘繪脚腳国國来來过過对對"
    "让讓给給从從见見听聽"
)
_SIMPLIFIED, _TRADITIONAL = _PAIRS[::2], _PAIRS[1::2]
_TO_TRADITIONAL = str.maketrans(_SIMPLIFIED, _TRADITIONAL)

#: Words of which a character is written in another way than by itself.
_WORDS = {
    "日游": "日遊",
    "旅游": "旅遊",
    "游戏": "遊戲",
    "面包": "麵包",
    "面条": "麵條",
    "理发": "理髮",
    "头发": "頭髮",
    "美发": "美髮",
}


def traditional(text: str) -> str:
    """Return a text of the taxonomy or of the languages' words in traditional characters."""
    for word, written in _WORDS.items():
        text = text.replace(word, written)
    return text.translate(_TO_TRADITIONAL)


def is_traditional(text: str, *, otherwise: bool) -> bool:
    """Return whether a Chinese text is in traditional characters; `otherwise`, where it has no character that tells."""
    ours = sum(character in _TRADITIONAL for character in text)
    theirs = sum(character in _SIMPLIFIED for character in text)
    return otherwise if ours == theirs else ours > theirs
